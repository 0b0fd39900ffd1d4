#include "hone/models/transform.h"

#include <gtest/gtest.h>

#include "hone/analysis/parameters.h"
#include "hone/base/text.h"
#include "hone/ir/print.h"
#include "hone/jobs/compress.h"
#include "hone/models/model_source.h"
#include "tests/support/expect.h"
#include "tests/support/tiny_jobs.h"

namespace hone {
namespace {

using testing::format_called;
using testing::tiny_model;

constexpr const char *kQuery = "bert.encoder.layer.0.attention.self.query",
                     *kWords = "bert.embeddings.word_embeddings", *kHead = "classifier";

Session session() { return testing::quiet_context().session(); }

QuantizationPlan plan_of(std::string_view format) {
  return plan_with_format(tiny_model(), format_called(format));
}

Model quantized(const QuantizationPlan& plan) {
  Model model = tiny_model();
  quantize_model(model, plan, session());
  return model;
}

// Returns the lines of a graph as a set, because consecutive passes may add parameters in another order.
std::multiset<std::string> lines_of(const Graph& graph) {
  const std::vector<std::string> lines = split(to_string(graph), '\n');
  return {lines.begin(), lines.end()};
}

TEST(Transform, TellsAPlanAsTheFewestPasses) {
  QuantizationPlan plan = plan_of("int(bits=8)");
  EXPECT_EQ(quantized(plan).facts.history.passes,
            (std::vector<std::string>{"quantize(format=int(bits=8,per=tensor,scale=static))"}));
  for (auto& [layer, formats] : plan) formats.weight = format_called("int(bits=4)");
  EXPECT_EQ(quantized(plan).facts.history.passes,
            (std::vector<std::string>{
                "quantize(format=int(bits=8,per=tensor,scale=static), operands=\"input,bias\")",
                "quantize(format=int(bits=4,per=tensor,scale=static), operands=\"weight\")"}));
  EXPECT_EQ(quantized({{kWords, {.weight = format_called("bf16")}},
                       {kHead, {.weight = format_called("bf16")}}})
                .facts.history.passes,
            (std::vector<std::string>{
                "quantize(format=bf16, layers=\"bert.embeddings.word_embeddings,classifier\", "
                "op=\"embedding,linear\", operands=\"weight\")"}));
}

TEST(Transform, TheHistoryMakesTheSameGraphAgain) {
  QuantizationPlan mixed = plan_of("integer(width=8)");
  mixed[0].second.input = format_called("bf16");
  mixed[1].second.weight = std::nullopt;
  mixed[2].second.output = format_called("int(bits=8)");
  mixed[3].second = LayerFormats::reads(format_called("int(bits=4,scale=learned)"));
  mixed.insert(mixed.begin(), {kWords, {.weight = format_called("int(bits=8,per=row)")}});
  for (const QuantizationPlan& plan : {plan_of("integer(width=8)"), mixed}) {
    const Model model = quantized(plan);
    EXPECT_EQ(model.quantization->plan, plan);
    Model again = tiny_model();
    for (const std::string& pass : model.facts.history.passes) transform(again, pass, session());
    EXPECT_EQ(lines_of(again.graph), lines_of(model.graph));
    EXPECT_EQ(again.facts.history, model.facts.history);
    EXPECT_EQ(again.quantization->plan, plan);
  }
}

TEST(Transform, IsToldInOrderAndSurvivesSaving) {
  const TemporaryFolder folder;
  Model model = tiny_model();
  transform(model, "freeze(names=\"bert.embeddings.*\")", session());
  transform(model, "quantize(format=bf16, operands=weight)", session());
  ASSERT_TRUE(model.quantization.has_value());
  EXPECT_EQ(model.quantization->method, "ptq");
  const History told{
      {"freeze(names=\"bert.embeddings.*\")", "quantize(format=bf16, operands=\"weight\")"},
      /*complete=*/true};
  EXPECT_EQ(model.facts.history, told);
  save_model(model, folder.path());
  const Model read = load_model(folder.path(), testing::builtin().ops, testing::builtin().formats,
                                /*seed=*/1);
  EXPECT_EQ(read.facts.history, told);
  EXPECT_EQ(to_string(read.graph), to_string(model.graph));
}

TEST(Transform, OfWhatChangesNothingNothingIsTold) {
  Model model = tiny_model();
  transform(model, "remove_quantizers", session());
  EXPECT_EQ(model.facts.history, History{});
}

TEST(Transform, WhatIsTakenOffAgainIsToldTwice) {
  const Model model = quantized(plan_of("integer(width=8)"));
  const Model plain = without_quantizers(model, session());
  EXPECT_EQ(to_string(plain.graph), to_string(tiny_model().graph));
  EXPECT_FALSE(plain.quantization.has_value());
  EXPECT_EQ(plain.facts.history.passes,
            (std::vector<std::string>{"quantize(format=integer(width=8,frac=auto))",
                                      "remove_quantizers"}));
}

TEST(Transform, CannotBeLeftOut) {
  const PassWatch watch{.skipped = {"freeze"}};
  Model model = tiny_model();
  Session skipping{.library = testing::builtin(), .pool = testing::quiet_context().pool};
  skipping.watch = &watch;
  expect_user_error("the pass freeze is requested and cannot be skipped",
                    [&] { transform(model, "freeze(names=\"*\")", skipping); });
  EXPECT_EQ(model.facts.history, History{});
  EXPECT_EQ(to_string(model.graph), to_string(tiny_model().graph));
}

// The published counts for bert-tiny. A LoRA that leaves everything else trainable would have 440,844.
TEST(Transform, OfBertTinyLeavesTheKnownNumbersOfParametersToTrain) {
  const auto trainable = [](std::string_view pass) {
    Model model =
        new_model(new_model_facts("tiny"), testing::quiet_context().library.ops, /*seed=*/42);
    EXPECT_EQ(total_parameters(model.graph).all(), 4'386'178);
    transform(model, pass, session());
    return total_parameters(model.graph).trainable;
  };
  EXPECT_EQ(trainable("freeze(names=\"bert.embeddings.*\")"), 413'314);
  EXPECT_EQ(trainable("insert_lora(r=6)"), 29'964);
  EXPECT_EQ(trainable("insert_lora(target=\"query,value\", r=6, modules_to_save=\"classifier\")"),
            4 * 6 * (128 + 128) + 258);
}

}  // namespace
}  // namespace hone
