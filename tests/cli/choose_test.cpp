#include <gtest/gtest.h>

#include "tests/cli/run_hone.h"
#include "tests/support/expect.h"

namespace hone::testing {
namespace {

const std::vector<std::string> kData = {"--data", "reviews.csv", "--split", "all"};

struct Choose : ::testing::Test {
  TemporaryFolder folder;
  Choose() {
    fs::copy(workshop() / "model", folder.path() / "model", fs::copy_options::recursive);
    fs::copy(workshop() / "reviews.csv", folder.path() / "reviews.csv");
    run_well({"train", "model", "--data", "reviews.csv", "--max_steps", "40", "--lr", "1e-3",
              "--batch_size", "8", "-o", "learnt"},
             folder.path());
    run_well({"quantize", "learnt", "--format", "int(bits=8)", "--data", "reviews.csv", "-o",
              "learnt-8"},
             folder.path());
  }
  Json choose(std::vector<std::string> words) const {
    words.insert(words.begin(), "choose");
    words.insert(words.end(), kData.begin(), kData.end());
    return run_json(words, folder.path());
  }
};

TEST_F(Choose, TakesTheOneWithTheHighestFigure) {
  const Json result = choose({"model", "learnt"});
  EXPECT_EQ(result["chosen"], "learnt");
  EXPECT_EQ(result["best"], "learnt");
  const Json models = result["models"];
  ASSERT_EQ(models.size(), 2U);
  EXPECT_GT(models[1]["eval_accuracy"], models[0]["eval_accuracy"]);
  // The other models are compared with the best one.
  EXPECT_TRUE(models[1]["comparison"].is_null());
  const Json compared = run_json(
      {"compare", "learnt", "model", "--data", "reviews.csv", "--split", "all"}, folder.path());
  EXPECT_EQ(models[0]["comparison"]["change"], compared["comparison"]["change"]);
  EXPECT_EQ(models[0]["comparison"]["change_interval"], compared["comparison"]["change_interval"]);
}

TEST_F(Choose, TakesTheSmallestThatIsNotShownToBeWorse) {
  const Json result = choose({"learnt", "learnt-8", "model", "--smallest"});
  EXPECT_EQ(result["chosen"], "learnt-8");
  const Json models = result["models"];
  EXPECT_LT(models[1]["packed_bytes"], models[0]["packed_bytes"]);
  EXPECT_TRUE(models[1]["eligible"]);
  EXPECT_FALSE(models[2]["eligible"]);
}

// Sizes are those of packed files, whether or not the model is packed already.
TEST_F(Choose, CountsPackedModelsWithoutTheirZeros) {
  run_well({"prune", "learnt", "--data", "reviews.csv", "--sparsity", "0.9", "-o", "sparse"},
           folder.path());
  run_well(
      {"quantize", "sparse", "--format", "int(bits=8)", "--data", "reviews.csv", "-o", "sparse-8"},
      folder.path());
  run_well({"pack", "sparse-8", "-o", "packed"}, folder.path());
  const Json models = choose({"learnt-8", "sparse-8", "packed"})["models"];
  EXPECT_LT(models[1]["packed_bytes"], models[0]["packed_bytes"]);
  EXPECT_EQ(models[2]["packed_bytes"], models[1]["packed_bytes"]);
  const Json size = run_json({"eval", "packed", "--data", "reviews.csv"}, folder.path())["size"];
  EXPECT_EQ(size["stored_bytes"], models[2]["packed_bytes"]);
  EXPECT_LT(size["stored_bytes"], size["disk_bytes"]) << "which has names and places, too";
}

// Of two models with equal accuracy the smaller is better. 40 texts cannot show that the larger one is within half a
// point of it.
TEST_F(Choose, WithADropTakesOnlyWhatIsShownToKeepIt) {
  const Json strict = choose({"learnt", "learnt-8", "--smallest", "--max_drop", "0.5"});
  EXPECT_EQ(strict["best"], "learnt-8");
  EXPECT_FALSE(strict["models"][0]["eligible"]);
  const Json loose = choose({"learnt", "learnt-8", "--smallest", "--max_drop", "60"});
  EXPECT_EQ(loose["chosen"], "learnt-8");
  EXPECT_TRUE(loose["models"][0]["eligible"]);
  // The best model is the reference of the comparison and is not tested itself.
  EXPECT_EQ(loose["summary"].get<std::string>().find("shown to pass"), std::string::npos)
      << loose["summary"];
}

TEST_F(Choose, SaysThatItsFiguresFlatter) {
  const Ending ending = run_well(
      {"choose", "model", "learnt", "--data", "reviews.csv", "--split", "all", "-o", "chosen"},
      folder.path());
  EXPECT_NE(ending.messages.find(
                "the metrics of learnt are optimistic, because it was chosen on these examples"),
            std::string::npos)
      << ending.messages;
  EXPECT_NE(read_page(folder.path() / "chosen/report.html").find("learnt is the best of 2 models"),
            std::string::npos);
}

TEST_F(Choose, OfOneModelIsThatModel) {
  const Json chosen = choose({"learnt", "--smallest"});
  EXPECT_EQ(chosen["chosen"], "learnt");
  EXPECT_EQ(chosen["models"].size(), 1u);
}

TEST_F(Choose, RefusesWhatCannotBeCompared) {
  folder.file("topics.csv", "text,label\na,x\nb,y\nc,x\nd,y\ne,x\nf,y\n");
  run_well({"train", "tiny", "--data", "topics.csv", "--max_steps", "1", "-o", "topics"},
           folder.path());
  const auto refusal = [&](std::vector<std::string> words, int code = kUsageError) {
    words.insert(words.begin(), "choose");
    words.insert(words.end(), kData.begin(), kData.end());
    const Ending ending = run_hone(words, folder.path());
    EXPECT_EQ(ending.code, code);
    return ending.messages;
  };
  EXPECT_NE(
      refusal({"model", "topics"}, kUserError).find("topics: the models have different classes"),
      std::string::npos);
  EXPECT_NE(refusal({"model", "learnt", "--max_drop", "1"}).find("--max_drop requires --smallest"),
            std::string::npos);
}

}  // namespace
}  // namespace hone::testing
