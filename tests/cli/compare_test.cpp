#include <gtest/gtest.h>

#include "tests/cli/run_hone.h"
#include "tests/support/expect.h"

namespace hone::testing {
namespace {

/// Returns a folder with the workshop's model, and `coarse`: the same model with so few bits that predictions change.
const fs::path& models() {
  static const TemporaryFolder folder;
  if (!fs::exists(folder.path() / "coarse")) {
    fs::copy(workshop() / "model", folder.path() / "model");
    fs::copy(workshop() / "reviews.csv", folder.path());
    run_well({"train", "model", "--data", "reviews.csv", "--max_steps", "30", "--lr", "1e-3",
              "--batch_size", "4", "-o", "trained"},
             folder.path());
    run_well({"quantize", "trained", "--format", "integer(width=4,frac=3)", "--data", "reviews.csv",
              "-o", "coarse"},
             folder.path());
  }
  return folder.path();
}

TEST(Compare, TellsWhatChanged) {
  const Json result = run_json({"compare", "trained", "coarse", "--data", "reviews.csv", "--split",
                                "all", "--examples", "3"},
                               models());
  const Json& comparison = result["comparison"];
  const int flips = comparison["flips"];
  ASSERT_GT(flips, 0) << "the test shows nothing";
  EXPECT_EQ(result["a"]["eval_samples"], kReviews);
  EXPECT_EQ(result["model"], "coarse");
  EXPECT_EQ(result["baseline"], "trained");
  EXPECT_EQ(result["n"], kReviews);
  EXPECT_EQ(result["a"]["arithmetic"], "fp32");
  EXPECT_EQ(result["b"]["arithmetic"], "simulated");
  EXPECT_EQ(result["a"]["average_weight_bits"], 32);
  EXPECT_EQ(result["b"]["average_weight_bits"], 4);
  // Simulated quantization saves no bytes.
  EXPECT_GT(result["size_before"]["stored_bytes"].get<std::int64_t>(), 0);
  EXPECT_EQ(result["size"]["parameters"], result["size_before"]["parameters"]);
  EXPECT_TRUE(result["size"]["quantized"].get<bool>());
  EXPECT_EQ(result["seeds"], 1);
  ASSERT_EQ(result["changed"].size(), static_cast<std::size_t>(std::min(flips, 3)));
  // The n-th text of the file is "film n, fine" or "film n, dull".
  for (const Json& changed : result["changed"]) {
    const int example = changed["example"];
    EXPECT_EQ(changed["text"], fmt::format("film {}, {}", example, example % 2 ? "fine" : "dull"));
    EXPECT_EQ(changed["label"], example % 2 ? "good" : "bad");
    EXPECT_NE(changed["a"], changed["b"]);
    EXPECT_GT(changed["swing"].get<double>(), 0);
  }
  // Examples that only the baseline predicts correctly come first.
  const int lost = comparison["only_baseline_right"];
  for (std::size_t i = 0; i < result["changed"].size(); ++i)
    EXPECT_EQ(result["changed"][i]["a"] == result["changed"][i]["label"],
              static_cast<int>(i) < lost);
}

TEST(Compare, ShowsPeopleATableTheChangeAndTheTexts) {
  const Ending ending = run_well(
      {"compare", "trained", "coarse", "--data", "reviews.csv", "--split", "all"}, models());
  for (const char* text : {"\ntrained ", "\ncoarse ", " points, 95% CI ",
                           "All, n = 40, 36 of them trained on: accuracy changed by",
                           "20 changed predictions", "film ", "good → bad"})
    EXPECT_NE(ending.output.find(text), std::string::npos) << text << "\n" << ending.output;
  EXPECT_EQ(ending.output.find("limit"), std::string::npos) << "none was given: " << ending.output;
}

TEST(Compare, OfAModelWithItselfFindsNothing) {
  const Ending ending =
      run_well({"compare", "trained", "trained", "--data", "reviews.csv"}, models());
  EXPECT_NE(ending.output.find("no prediction changed"), std::string::npos) << ending.output;
  EXPECT_EQ(ending.output.find("that changed"), std::string::npos) << ending.output;
}

TEST(Compare, LeavesAReportWhereItIsAskedTo) {
  const TemporaryFolder folder;
  run_well({"compare", "trained", "coarse", "--data", "reviews.csv", "--split", "all", "-o",
            folder.path() / "out"},
           models());
  EXPECT_EQ(entries(folder.path() / "out"),
            (std::vector<std::string>{"machine.json", "record.json", "report.html", "report.md",
                                      "results.json", "run.log", "settings.json"}));
  const std::string page = read_file(folder.path() / "out/report.html");
  EXPECT_NE(page.find("trained and coarse compared"), std::string::npos);
  EXPECT_NE(page.find("film "), std::string::npos);
}

TEST(Compare, IsAGateForScripts) {
  const std::vector<std::string> words = {"compare", "trained",     "coarse",
                                          "--data",  "reviews.csv", "--max_drop"};
  const auto code = [&](const char* allowed) {
    std::vector<std::string> all = words;
    all.push_back(allowed);
    return run_hone(all, models()).code;
  };
  EXPECT_EQ(code("0.1"), 3);
  EXPECT_EQ(code("100"), 0);
}

TEST(Compare, PairsTheSeedsOfRepeatedJobs) {
  const TemporaryFolder folder;
  const auto train = [&](const char* rate, const char* output) {
    run_well({"train", "tiny", "--data", models() / "reviews.csv", "--max_steps", "2", "--lr", rate,
              "--seeds", "2", "-o", output},
             folder.path());
  };
  train("1e-3", "slow");
  train("5e-3", "fast");
  const Json result =
      run_json({"compare", "slow", "fast", "--data", models() / "reviews.csv", "--split", "train"},
               folder.path());
  EXPECT_EQ(result["seeds"], 2);
  ASSERT_EQ(result["runs"].size(), 2u);
  EXPECT_EQ(result["runs"][0]["seed"], 42);
  EXPECT_EQ(result["split"], "train");
  EXPECT_EQ(result["change"]["seeds"], 2);
  const std::string shown =
      run_well({"compare", "slow", "fast", "--data", models() / "reviews.csv", "--split", "train"},
               folder.path())
          .output;
  EXPECT_NE(shown.find("always predicting the most frequent class scores 50.0%."),
            std::string::npos)
      << shown;
  const Ending gated = run_well({"compare", "slow", "fast", "--data", models() / "reviews.csv",
                                 "--split", "train", "--gate", "f1_macro>=-100"},
                                folder.path());
  EXPECT_NE(gated.output.find(" points), 2 seeds\n"), std::string::npos) << gated.output;
  const Ending refused = run_hone(
      {"compare", "slow", "fast/seed-42", "--data", models() / "reviews.csv"}, folder.path());
  EXPECT_EQ(refused.code, 1);
  EXPECT_NE(refused.messages.find("expected two models, or two folders with the same seeds"),
            std::string::npos)
      << refused.messages;
}

// Swapping the class names of the same weights inverts every prediction.
TEST(Compare, MatchesClassesInAnotherOrderByName) {
  const TemporaryFolder folder;
  const fs::path swapped = folder.path() / "swapped";
  fs::copy(models() / "trained", swapped);
  Json config = read_json(swapped / "config.json");
  config["id2label"] = {{"0", "good"}, {"1", "bad"}};
  config["label2id"] = {{"good", 0}, {"bad", 1}};
  fs::remove(swapped / "config.json");
  write_file(swapped / "config.json", config.dump());
  const Json result = run_json(
      {"compare", "trained", swapped, "--data", "reviews.csv", "--split", "all", "--examples", "3"},
      models());
  EXPECT_EQ(result["comparison"]["flips"], kReviews);
  EXPECT_NE(result["changed"][0]["label"], result["changed"][1]["label"]) << "classes in turn";
  EXPECT_NEAR(
      result["a"]["eval_accuracy"].get<double>() + result["b"]["eval_accuracy"].get<double>(), 1,
      1e-12);
  for (const Json& changed : result["changed"]) EXPECT_NE(changed["a"], changed["b"]);
}

TEST(Compare, RefusesModelsWithOtherClasses) {
  const TemporaryFolder folder;
  run_well(
      {"train", "tiny", "--data", "synth:lookup?n=300&test=60", "--max_steps", "1", "-o", "other"},
      folder.path());
  const Ending ending = run_hone({"compare", models() / "trained", folder.path() / "other",
                                  "--data", models() / "reviews.csv"},
                                 folder.path());
  EXPECT_EQ(ending.code, 1);
  EXPECT_NE(
      ending.messages.find("the models have different classes: bad, good and negative, positive"),
      std::string::npos)
      << ending.messages;
}

}  // namespace
}  // namespace hone::testing
