#include "hone/app/fine_tune.h"

#include <gtest/gtest.h>

#include "hone/passes/quantize.h"
#include "hone/text/data_set.h"
#include "tests/support/expect.h"
#include "tests/support/tiny_model.h"

namespace hone {
namespace {

using testing::tiny_model;
using testing::tiny_texts;

Context& context() {
  static Context quiet(/*threads=*/1, /*quiet=*/true);
  return quiet;
}

struct Outcome {
  Model model;
  std::vector<Json> lines;
};

Outcome fine_tuned(const FineTuneOptions& options, const EncodedSplits& data,
                   Model model = tiny_model()) {
  Outcome outcome{std::move(model), {}};
  fine_tune(
      outcome.model, data, /*pad_id=*/0, options,
      [&](const Json& line) { outcome.lines.push_back(line); }, context());
  return outcome;
}

TEST(FineTune, LogsWithTheKeysOfHuggingFace) {
  FineTuneOptions options;
  options.training = {.optimizer = {.learning_rate = 1e-3}, .epochs = 2, .logging_steps = 3};
  const Outcome outcome = fine_tuned(options, {tiny_texts(32), tiny_texts(10, 2), {}});
  std::vector<std::string> events;
  for (const Json& line : outcome.lines)
    events.push_back(
        fmt::format("{} {}", line.contains("loss") ? "log" : "eval", line["step"].get<int>()));
  EXPECT_EQ(events, (std::vector<std::string>{"log 3", "eval 4", "log 6", "log 8", "eval 8"}));
  for (const char* key : {"loss", "grad_norm", "learning_rate", "epoch"})
    EXPECT_TRUE(outcome.lines[0][key].is_number()) << key;
  for (const char* key : {"eval_loss", "eval_accuracy", "eval_runtime", "eval_samples_per_second"})
    EXPECT_TRUE(outcome.lines[1][key].is_number()) << key;
  EXPECT_EQ(outcome.lines[1]["epoch"], 1.0);
  EXPECT_EQ(outcome.lines[1]["eval_samples"], 10);
  EXPECT_EQ(outcome.lines[1]["eval_recall"].size(), 2u);
}

TEST(FineTune, WithoutValidationDoesNotEvaluate) {
  FineTuneOptions options;
  options.training.max_steps = 1;
  const Outcome outcome = fine_tuned(options, {tiny_texts(8), {}, {}});
  ASSERT_EQ(outcome.lines.size(), 1u);
  EXPECT_TRUE(outcome.lines[0].contains("loss"));
}

TEST(FineTune, EvaluationChangesNothing) {
  FineTuneOptions options;
  options.training = {.optimizer = {.learning_rate = 1e-3}, .max_steps = 4, .eval_steps = 1};
  const auto parameters = [&](const EncodedSet& validation) {
    return fine_tuned(options, {tiny_texts(32), validation, {}}).model.parameters;
  };
  EXPECT_EQ(testing::changed_parameters(parameters({}), parameters(tiny_texts(10, 2))),
            std::vector<std::string>{});
}

TEST(FineTune, LeavesFrozenParametersAlone) {
  FineTuneOptions options;
  options.training = {.optimizer = {.learning_rate = 1e-2}, .max_steps = 2};
  options.freeze = {"bert.embeddings.*", "bert.encoder.layer.?.attention.*"};
  const Outcome outcome = fine_tuned(options, {tiny_texts(16), {}, {}});
  for (const std::string& name :
       testing::changed_parameters(tiny_model().parameters, outcome.model.parameters)) {
    EXPECT_FALSE(name.starts_with("bert.embeddings.")) << name;
    EXPECT_EQ(name.find(".attention."), std::string::npos) << name;
  }
}

TEST(FineTune, RefusesFrozenNamesThatMatchNothing) {
  FineTuneOptions options;
  options.freeze = {"bert.embedings.*"};
  expect_user_error("freeze: no parameter matches 'bert.embedings.*'", [&] {
    fine_tuned(options, {tiny_texts(8), {}, {}});
  });
}

TEST(FineTune, RefusesLabelsTheModelDoesNotHave) {
  EncodedSet data = tiny_texts(8);
  data.labels[5] = 2;
  expect_user_error("2", [&] { fine_tuned({}, {data, {}, {}}); });
}

TEST(FineTune, TrainsAQuantizedModelThroughItsQuantizers) {
  FineTuneOptions options;
  options.training = {.optimizer = {.learning_rate = 1e-3}, .max_steps = 2};
  Model quantized = tiny_model();
  quantized.quantization = testing::quantization_of(quantized, "integer(width=6,frac=3)", "qat");
  const EncodedSplits data{tiny_texts(16), {}, {}};
  const Outcome plain = fine_tuned(options, data), through = fine_tuned(options, data, quantized);
  EXPECT_NE(plain.lines[0]["loss"], through.lines[0]["loss"]);
  EXPECT_TRUE(through.model.quantization.has_value());
}

TEST(EncodeSplits, SaysWhatWasCutAndReplaced) {
  const fs::path golden = fs::path(HONE_TEST_DATA) / "frontends" / "golden" / "safetensors";
  const TextModel source = open_model(golden.string(), context(), /*seed=*/1);
  const std::vector<Example> train = {{"a b c d e f g h", 0}, {"a", 1}};
  const std::vector<Example> test = {{"a \xff", 0}};
  std::vector<std::string> warnings;
  const EncodedSplits encoded = encode_splits(source, train, {}, test, 6, context(), warnings);
  EXPECT_EQ(encoded.train.ids[0].size(), 6u);
  EXPECT_EQ(encoded.train.labels, (std::vector<std::int32_t>{0, 1}));
  EXPECT_EQ(encoded.validation.size(), 0);
  EXPECT_EQ(encoded.test.size(), 1);
  EXPECT_EQ(warnings,
            (std::vector<std::string>{
                "train: 1 of 2 texts were cut to 6 tokens",
                "test: 1 ill-formed bytes were read as U+FFFD; the texts are not UTF-8"}));
}

TEST(EncodeSplits, CutsTextsToThePositionsOfTheModel) {
  const fs::path golden = fs::path(HONE_TEST_DATA) / "frontends" / "golden" / "safetensors";
  const TextModel source = open_model(golden.string(), context(), /*seed=*/1);
  std::string text;
  for (int i = 0; i < 600; ++i) text += "a ";
  std::vector<std::string> warnings;
  const EncodedSplits encoded =
      encode_splits(source, {{text, 0}}, {}, {}, /*max_seq_length=*/0, context(), warnings);
  EXPECT_EQ(encoded.train.ids[0].size(), 32u);
}

}  // namespace
}  // namespace hone
