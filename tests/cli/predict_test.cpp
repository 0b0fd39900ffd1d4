#include <gtest/gtest.h>

#include <cmath>

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

TEST(Predict, ShowsPeopleATable) {
  const Ending ending = run_well({"predict", "model", "a fine film"}, workshop());
  EXPECT_NE(ending.output.find("Probability"), std::string::npos);
  EXPECT_NE(ending.output.find("a fine film"), std::string::npos);
  EXPECT_EQ(ending.messages, "");
}

}  // namespace
}  // namespace hone::testing
