#include <gtest/gtest.h>

#include "tests/cli/run_hone.h"
#include "tests/support/expect.h"

namespace hone::testing {
namespace {

constexpr const char* kFormat = "integer(width=8,frac=4)";

// `hone quantize` of the workshop's model into `folder`/quantized.
Json quantize(const TemporaryFolder& folder, const std::vector<std::string>& more) {
  std::vector<std::string> words = {
      "quantize", "model",       "--format", kFormat,
      "--data",   "reviews.csv", "-o",       folder.path() / "quantized"};
  words.insert(words.end(), more.begin(), more.end());
  return run_json(words, workshop());
}

TEST(Quantize, AfterTrainingSaysWhatWasLost) {
  const TemporaryFolder folder;
  const Json result = quantize(folder, {});
  EXPECT_EQ(result["method"], "ptq");
  EXPECT_EQ(result["format"], kFormat);
  EXPECT_EQ(result["arithmetic"], "simulated");
  EXPECT_EQ(result["average_weight_bits"], 8);
  // Two layers of query, key, value and three dense ones, the pooler and the classifier.
  EXPECT_EQ(result["quantized_modules"], 14);
  EXPECT_NE(result["before"]["eval_loss"], result["after"]["eval_loss"]);
  const Json& comparison = result["comparison"];
  EXPECT_EQ(comparison["flip_share"].get<double>() * result["after"]["eval_samples"].get<double>(),
            comparison["flips"]);
  EXPECT_EQ(entries(folder.path() / "quantized"),
            (std::vector<std::string>{"config.json", "model.safetensors", "results.json",
                                      "tokenizer_config.json", "vocab.txt"}));
}

TEST(Quantize, WhatIsSavedComputesWhatWasMeasured) {
  const TemporaryFolder folder;
  // Nothing is set aside: both commands measure on the whole file.
  const Json result = quantize(folder, {"--validation_split", "0"});
  const auto loss_of = [](const fs::path& model) {
    return run_json({"eval", model, "--data", "reviews.csv"}, workshop())["eval_loss"];
  };
  EXPECT_EQ(loss_of("model"), result["before"]["eval_loss"]);
  EXPECT_EQ(loss_of(folder.path() / "quantized"), result["after"]["eval_loss"]);
}

TEST(Quantize, WithTrainingWritesItsLog) {
  const TemporaryFolder folder;
  const Json result = quantize(folder, {"--qat", "--max_steps", "2", "--logging_steps", "1"});
  EXPECT_EQ(result["method"], "qat");
  const std::vector<Json> log =
      json_lines(read_file(folder.path() / "quantized/training_log.jsonl"));
  ASSERT_EQ(log.size(), 3);  // two steps and an evaluation
  EXPECT_TRUE(log[0].contains("loss"));
  EXPECT_TRUE(log[2].contains("eval_loss"));
}

TEST(Quantize, NamesFormatAndLayersInTheConfig) {
  const TemporaryFolder folder;
  quantize(folder, {});
  const Json config = read_json(folder.path() / "quantized/config.json");
  EXPECT_NE(config["quantization_config"].dump().find(kFormat), std::string::npos);
  EXPECT_NE(config["quantization_config"].dump().find("bert.encoder.layer.1.output.dense"),
            std::string::npos);
}

TEST(Quantize, ShowsPeopleBothModelsAndAVerdict) {
  const TemporaryFolder folder;
  const Ending ending = run_well({"quantize", "model", "--format", kFormat, "--data", "reviews.csv",
                                  "-o", folder.path() / "quantized"},
                                 workshop());
  for (const char* text :
       {"before", "PTQ integer(width=8,frac=4)", "Flips", "simulated", "14 operations quantized"})
    EXPECT_NE(ending.output.find(text), std::string::npos) << text;
}

}  // namespace
}  // namespace hone::testing
