#include <gtest/gtest.h>

#include <cmath>

#include "hone/tensor/safetensors.h"
#include "tests/cli/run_hone.h"
#include "tests/support/expect.h"

namespace hone::testing {
namespace {

TEST(Predict, ShowsWhatTheModelSawAndSaid) {
  const Json said = run_json({"predict", "model", "a fine film"}, workshop());
  EXPECT_EQ(said["text"], "a fine film");
  const std::vector<int> ids = said["input_ids"];
  ASSERT_GE(ids.size(), 3);
  EXPECT_EQ(ids.front(), 2);  // [CLS]
  EXPECT_EQ(ids.back(), 3);   // [SEP]
  const std::vector<double> logits = said["logits"], probabilities = said["probabilities"];
  ASSERT_EQ(logits.size(), 2);
  ASSERT_EQ(probabilities.size(), 2);
  EXPECT_NEAR(probabilities[0], 1 / (1 + std::exp(logits[1] - logits[0])), 1e-15);
  EXPECT_NEAR(probabilities[0] + probabilities[1], 1, 1e-15);
  EXPECT_EQ(said["label"], logits[0] > logits[1] ? "bad" : "good");
}

TEST(Predict, ReadsManyTextsWithoutLabels) {
  const TemporaryFolder folder;
  folder.file("texts.csv", "id,review\n1,a fine film\n2,\"dull, long\"\n3,a fine film\n");
  const Ending ending = run_well(
      {"predict", workshop() / "model", "--data", "texts.csv", "--text_column", "review", "--json"},
      folder.path());
  const std::vector<Json> said = json_lines(ending.output);
  ASSERT_EQ(said.size(), 3);
  EXPECT_EQ(said[0]["text"], "a fine film");
  EXPECT_EQ(said[1]["text"], "dull, long");
  EXPECT_EQ(said[2], said[0]);
  // The same as alone, but for what padding does to the order of float32 sums.
  const Json alone = run_json({"predict", "model", "a fine film"}, workshop());
  EXPECT_EQ(said[0]["input_ids"], alone["input_ids"]);
  for (int i = 0; i < 2; ++i)
    EXPECT_NEAR(said[0]["logits"][i].get<double>(), alone["logits"][i].get<double>(), 1e-6);
}

TEST(Predict, TakesATextThatLooksLikeAFlagAfterTwoDashes) {
  const Json said =
      json_lines(
          run_well({"predict", "model", "--json", "--", "--not-bad at all"}, workshop()).output)
          .at(0);
  EXPECT_EQ(said["text"], "--not-bad at all");
}

// Attention scores beyond what fp32 holds make every logit a NaN.
TEST(Predict, GivesNoLabelToWhatIsNoNumber) {
  const TemporaryFolder folder;
  fs::copy(workshop() / "model", folder.path() / "model", fs::copy_options::recursive);
  const fs::path weights = folder.path() / "model/model.safetensors";
  TensorMap tensors;
  for (const auto& [name, tensor] : read_safetensors(weights).tensors)
    tensors.emplace(name, tensor.contiguous_copy());
  std::ranges::fill(tensors.at("bert.encoder.layer.0.attention.self.query.weight").values<float>(),
                    3e38f);
  fs::remove(weights);
  write_safetensors(weights, tensors, {{"format", "pt"}});
  const Ending json = run_well({"predict", "model", "a fine film", "--json"}, folder.path());
  const Json said = json_lines(json.output).at(0);
  EXPECT_TRUE(said["label"].is_null());
  EXPECT_TRUE(said["probabilities"][0].is_null());
  EXPECT_NE(json.messages.find("warning: 1 of 1 texts have no prediction"), std::string::npos)
      << json.messages;
  const Ending table = run_well({"predict", "model", "a fine film"}, folder.path());
  EXPECT_NE(table.output.find("none (not a number)"), std::string::npos) << table.output;
}

// PyTorch allows it, though nothing but biases can be learnt then.
TEST(Predict, OpensAModelWhoseDropoutIsOne) {
  const TemporaryFolder folder;
  fs::copy(workshop() / "model", folder.path() / "model", fs::copy_options::recursive);
  Json config = read_json(folder.path() / "model/config.json");
  config["hidden_dropout_prob"] = 1.0;
  folder.file("model/config.json", to_document(config));
  EXPECT_EQ(run_json({"predict", "model", "a fine film"}, folder.path()),
            run_json({"predict", "model", "a fine film"}, workshop()));
  run_well(
      {"train", "model", "--data", workshop() / "reviews.csv", "--max_steps", "1", "-o", "out"},
      folder.path());
}

TEST(Predict, ShowsPeopleATable) {
  const Ending ending = run_well({"predict", "model", "a fine film"}, workshop());
  EXPECT_NE(ending.output.find("Probability"), std::string::npos);
  EXPECT_NE(ending.output.find("a fine film"), std::string::npos);
  EXPECT_EQ(ending.messages, "");
}

}  // namespace
}  // namespace hone::testing
