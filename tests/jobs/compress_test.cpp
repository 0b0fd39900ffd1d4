#include "hone/jobs/compress.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/expect.h"
#include "tests/support/tiny_jobs.h"
#include "tests/support/tiny_model.h"

namespace hone {
namespace {

using testing::floats_of;
using testing::tiny_model;

Model compressed(std::string_view format, bool qat = false) {
  CompressOptions options;
  options.plan = plan_with_format(tiny_model(),
                                  parse_format(format, testing::quiet_context().library.formats));
  options.qat = qat;
  options.fine_tune.training = {.optimizer = {.learning_rate = 1e-3}, .max_steps = 3};
  return compress(tiny_model(), testing::tiny_splits(), options, testing::quiet_context());
}

std::vector<float> logits_of(const Model& model) {
  return measure(model, testing::tiny_splits().test, /*batch_size=*/8, testing::quiet_context(),
                 "measure")
      .logits;
}

double snr_db(const Model& candidate) {
  const std::vector<float> parent = logits_of(tiny_model()), child = logits_of(candidate);
  return margin_snr_db({parent, 2}, {child, 2});
}

// Rounding errors of relative size r in weights and data leave about -20 log10(r) dB. Values are around 1, weights
// around 0.2. At 16 bits 2^-13 / 0.2 gives 64 dB, and some 20 products add up. At 4 bits even the steps of the data,
// 1/4, exceed the weights.
TEST(Compress, KeepsMarginsAtSixteenBitsAndLosesThemAtFour) {
  EXPECT_GT(snr_db(compressed("integer(width=16,frac=12)")), 40);
  EXPECT_LT(snr_db(compressed("integer(width=4,frac=2)")), 6);
}

TEST(Compress, CalibratedFractionsBeatAFixedOneThatIsTooCoarse) {
  EXPECT_GT(snr_db(compressed("integer(width=8)")),
            snr_db(compressed("integer(width=8,frac=2)")) + 10);
}

TEST(Compress, SaysWhatItDid) {
  const Model model = compressed("integer(width=8)");
  ASSERT_TRUE(model.quantization.has_value());
  EXPECT_EQ(summary(model.quantization->plan), "integer(width=8,frac=auto)");
  EXPECT_EQ(model.quantization->method, "ptq");
  EXPECT_EQ(model.quantization->plan.size(), 14u);
  EXPECT_EQ(model.quantization->plan.front().first, "bert.encoder.layer.0.attention.self.query");
  EXPECT_EQ(model.quantization->plan.back().first, "classifier");
  EXPECT_TRUE(model.parameters.contains("classifier.input_quantizer.frac"));
  EXPECT_EQ(compressed("integer(width=8)", /*qat=*/true).quantization->method, "qat");
}

TEST(Compress, KeepsWeightsInFullPrecision) {
  const Model parent = tiny_model();
  const Model model = compressed("integer(width=8,frac=4)");
  EXPECT_EQ(testing::changed_parameters(parent.parameters, model.parameters),
            std::vector<std::string>{});
  // Training through quantizers changes the weights.
  EXPECT_FALSE(testing::changed_parameters(parent.parameters,
                                           compressed("integer(width=8,frac=4)", true).parameters)
                   .empty());
}

TEST(Compress, RefusesOperandsThatAreQuantizedAlready) {
  const Model model = compressed("integer(width=8,frac=4)");
  CompressOptions options;
  options.plan = {{"bert.pooler.dense", {.output = testing::format_called("bf16")}},
                  {"classifier", {.weight = testing::format_called("bf16")}}};
  const char* message =
      "%classifier: its weight is already quantized (%classifier.weight.quantizer); "
      "exclude it, or start from the unquantized model";
  expect_user_error(
      message, [&] { compress(model, testing::tiny_splits(), options, testing::quiet_context()); });
  expect_user_error(message, [&] { combined_plan(model, options.plan); });
}

Model further(const Model& parent, const QuantizationPlan& plan, bool qat = false) {
  CompressOptions options{.plan = plan, .qat = qat};
  options.fine_tune.training = {.optimizer = {.learning_rate = 1e-3}, .max_steps = 3};
  return compress(parent, testing::tiny_splits(), options, testing::quiet_context());
}

const std::string kWords = "bert.embeddings.word_embeddings";

// Existing quantizers keep their state bit for bit, whether or not calibration would choose the same.
TEST(Compress, GoesOnFromAQuantizedModel) {
  Model parent = round_weights(compressed("integer(width=8)"), testing::quiet_context());
  parent.parameters.set("classifier.input_quantizer.frac", Tensor::scalar(1.0f));
  const QuantizationPlan words = {
      {kWords, {.weight = testing::format_called("int(bits=4,per=row)")}}};
  const Model model = further(parent, words);
  for (const auto& [name, tensor] : parent.parameters.tensors())
    EXPECT_EQ(floats_of(model.parameters.at(name)), floats_of(tensor)) << name;
  EXPECT_EQ(model.parameters.tensors().size(), parent.parameters.tensors().size() + 1);
  QuantizationPlan both = parent.quantization->plan;
  both.insert(both.begin(), words[0]);
  EXPECT_EQ(model.quantization->plan, both);
  EXPECT_EQ(combined_plan(parent, words), both);
  EXPECT_EQ(
      model.facts.history.passes,
      (std::vector<std::string>{"quantize(format=integer(width=8,frac=auto))",
                                "quantize(format=int(bits=4,per=row,scale=static), "
                                "layers=\"bert.embeddings.word_embeddings\", op=\"embedding\", "
                                "operands=\"weight\")"}));
  EXPECT_EQ(average_weight_bits(model), average_weight_bits(parent)) << "of linears alone";
  EXPECT_NE(logits_of(round_weights(model, testing::quiet_context())), logits_of(parent));
}

TEST(Compress, CalibratesBehindTheQuantizersThatStand) {
  const std::string layer = "bert.encoder.layer.0.";
  const QuantizationPlan narrow = {{layer + "intermediate.dense",
                                    {.output = testing::format_called("integer(width=2,frac=1)")}}};
  const QuantizationPlan next = {
      {layer + "output.dense", {.input = testing::format_called("integer(width=8)")}}};
  const auto fraction = [&](const Model& model) {
    return floats_of(model.parameters.at(layer + "output.dense.input_quantizer.frac"))[0];
  };
  // GELU of at most 1/2 is at most 0.35, for which 8 bits have 8 fraction bits.
  EXPECT_EQ(fraction(further(further(tiny_model(), narrow), next)), 8);
  EXPECT_LT(fraction(further(tiny_model(), next)), 7);
}

TEST(Compress, ATrainedParentStaysOne) {
  const Model parent = compressed("integer(width=8)", /*qat=*/true);
  const QuantizationPlan words = {{kWords, {.weight = testing::format_called("int(bits=8)")}}};
  EXPECT_EQ(further(parent, words).quantization->method, "qat");
  EXPECT_EQ(further(compressed("integer(width=8)"), words).quantization->method, "ptq");
  EXPECT_EQ(further(compressed("integer(width=8)"), words, /*qat=*/true).quantization->method,
            "qat");
}

TEST(RoundWeights, ChangesNoBitOfTheLogits) {
  for (const char* format : {"integer(width=8,frac=4)", "integer(width=6)", "integer(width=1)"}) {
    for (const bool qat : {false, true}) {
      SCOPED_TRACE(fmt::format("{} {}", format, qat));
      const Model model = compressed(format, qat);
      const Model rounded = round_weights(model, testing::quiet_context());
      EXPECT_EQ(logits_of(rounded), logits_of(model));
      EXPECT_EQ(
          testing::changed_parameters(rounded.parameters,
                                      round_weights(rounded, testing::quiet_context()).parameters),
          std::vector<std::string>{});
    }
  }
}

TEST(RoundWeights, PutsWeightsAndBiasesOfLinearsOnTheGrid) {
  const Model model = compressed("integer(width=8,frac=4)", /*qat=*/true);
  const Model rounded = round_weights(model, testing::quiet_context());
  for (const auto& [module, formats] : model.quantization->plan) {
    for (const char* parameter : {".weight", ".bias"}) {
      for (const float value : floats_of(rounded.parameters.at(module + parameter)))
        ASSERT_EQ(value * 16, std::nearbyint(value * 16)) << module << parameter;
    }
  }
  EXPECT_EQ(testing::changed_parameters(model.parameters, rounded.parameters).size(), 28u);
}

TEST(RoundWeights, SurvivesSaving) {
  const TemporaryFolder folder;
  const Model rounded = round_weights(compressed("integer(width=6)"), testing::quiet_context());
  save_model(rounded, folder.path());
  const Model again = load_model(folder.path(), testing::quiet_context().library.ops,
                                 testing::quiet_context().library.formats, /*seed=*/1);
  EXPECT_EQ(logits_of(again), logits_of(rounded));
}

std::vector<std::string> scales_of(const Model& model) {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : model.parameters.tensors())
    if (name.ends_with(".scale")) names.push_back(name);
  return names;
}

TEST(Compress, TrainsLearnedScalesWithTheWeights) {
  const Model calibrated = compressed("int(bits=4,scale=learned)");
  const Model trained = compressed("int(bits=4,scale=learned)", /*qat=*/true);
  ASSERT_EQ(scales_of(calibrated).size(), 14u * 2 + 10);
  ASSERT_EQ(scales_of(trained), scales_of(calibrated));
  int changed = 0;
  for (const std::string& name : scales_of(trained)) {
    const float before = floats_of(calibrated.parameters.at(name))[0];
    const float after = floats_of(trained.parameters.at(name))[0];
    EXPECT_NEAR(after, before, 3 * 1e-3 + 1e-6) << name;  // three steps of AdamW at 1e-3
    changed += after != before;
  }
  // Biases of zero lose nothing at any scale, so their scales need not change.
  EXPECT_GE(changed, 14 + 10);
}

// The weights of an earlier training are used as they are. Another step would show at this learning rate.
TEST(Compress, TakesWhatATrainingLeftForIt) {
  const Model trained = compressed("int(bits=4,scale=learned)", /*qat=*/true);
  CompressOptions options;
  options.plan = trained.quantization->plan;
  options.qat = true;
  options.fine_tune.training = {.optimizer = {.learning_rate = 1}, .max_steps = 3};
  options.trained = trained.parameters;
  const Model known =
      compress(tiny_model(), testing::tiny_splits(), options, testing::quiet_context());
  EXPECT_EQ(testing::changed_parameters(trained.parameters, known.parameters),
            std::vector<std::string>{});
  EXPECT_EQ(known.quantization->method, "qat");
  EXPECT_EQ(logits_of(known), logits_of(trained));
}

TEST(Compress, KeepsTrainedScalesInTheSavedModel) {
  const TemporaryFolder folder;
  const Model trained = compressed("int(bits=4,scale=learned)", /*qat=*/true);
  save_model(trained, folder.path());
  const Model again = load_model(folder.path(), testing::quiet_context().library.ops,
                                 testing::quiet_context().library.formats, /*seed=*/1);
  for (const std::string& name : scales_of(trained))
    EXPECT_EQ(floats_of(again.parameters.at(name)), floats_of(trained.parameters.at(name)));
  EXPECT_EQ(logits_of(again), logits_of(trained));
  EXPECT_EQ(logits_of(round_weights(again, testing::quiet_context())), logits_of(trained));
}

TEST(Compress, KeepsTheStateOfEveryRow) {
  const TemporaryFolder folder;
  CompressOptions options;
  const Graph graph = unquantized_graph(tiny_model());
  options.plan =
      uniform_plan(graph, {.weight = parse_format("int(bits=4,per=row,scale=static)",
                                                  testing::quiet_context().library.formats)});
  const Model model =
      compress(tiny_model(), testing::tiny_splits(), options, testing::quiet_context());
  EXPECT_EQ(model.parameters.at("classifier.weight.quantizer.scale").sizes(), Sizes{2});
  save_model(round_weights(model, testing::quiet_context()), folder.path());
  const Model again = load_model(folder.path(), testing::quiet_context().library.ops,
                                 testing::quiet_context().library.formats, /*seed=*/1);
  EXPECT_EQ(logits_of(again), logits_of(model));
}

}  // namespace
}  // namespace hone
