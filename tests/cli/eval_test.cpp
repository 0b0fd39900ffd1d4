#include <gtest/gtest.h>

#include <numeric>

#include "tests/cli/run_hone.h"
#include "tests/support/expect.h"

namespace hone::testing {
namespace {

TEST(Eval, MeasuresAllOfASingleFile) {
  const Json result = run_json({"eval", "model", "--data", "reviews.csv"}, workshop());
  EXPECT_EQ(result["eval_samples"], kReviews);
  EXPECT_EQ(result["arithmetic"], "fp32");
  const double accuracy = result["eval_accuracy"];
  EXPECT_LE(result["eval_accuracy_interval"][0], accuracy);
  EXPECT_GE(result["eval_accuracy_interval"][1], accuracy);
  // Both classes are equally frequent, so that accuracy is the mean of their recalls.
  const double bad = result["eval_recall"]["bad"], good = result["eval_recall"]["good"];
  EXPECT_DOUBLE_EQ(accuracy, (bad + good) / 2);
}

TEST(Eval, FindsWhatTrainingMeasured) {
  const TemporaryFolder folder;
  const std::vector<std::string> data = {"--data", "synth:lookup?n=300"};
  const Json trained = run_json(
      {"train", "tiny", data[0], data[1], "--max_steps", "2", "-o", "model"}, folder.path());
  for (const char* part : {"validation", "test"}) {
    const Json found =
        run_json({"eval", "model", data[0], data[1], "--split", part, "--validation_split", "0.1"},
                 folder.path());
    for (const char* key : {"eval_loss", "eval_accuracy", "eval_samples"})
      EXPECT_EQ(found[key], trained[part][key]) << part << " " << key;
  }
}

TEST(Eval, SaysThatAQuantizedModelIsSimulated) {
  const TemporaryFolder folder;
  const std::string format = "integer(width=8,frac=4)";
  run_well({"quantize", workshop() / "model", "--format", format, "--data",
            workshop() / "reviews.csv", "-o", "quantized"},
           folder.path());
  const Json result =
      run_json({"eval", "quantized", "--data", workshop() / "reviews.csv"}, folder.path());
  EXPECT_EQ(result["arithmetic"], "simulated " + format);
}

TEST(Eval, SaysWhatTheWeightsTake) {
  const Json size = run_json({"eval", "model", "--data", "reviews.csv"}, workshop())["size"];
  EXPECT_EQ(size["disk_bytes"], fs::file_size(workshop() / "model/model.safetensors"));
  EXPECT_EQ(size["packed_bytes"], size["memory_bytes"]);
  EXPECT_EQ(size["quantized"], false);
  EXPECT_NE(
      run_well({"eval", "model", "--data", "reviews.csv"}, workshop()).output.find("\nWeights: "),
      std::string::npos);
}

TEST(Eval, ShowsPeopleRoundedFigures) {
  const Ending ending = run_well({"eval", "model", "--data", "reviews.csv"}, workshop());
  for (const char* figure : {"accuracy", "loss", "recall of bad", "recall of good", "arithmetic"})
    EXPECT_NE(ending.output.find(figure), std::string::npos) << figure;
  EXPECT_NE(ending.messages.find("evaluate  100 %  40/40 texts"), std::string::npos);
}

TEST(Eval, LeavesAReportWhereItIsAskedTo) {
  const TemporaryFolder folder;
  const fs::path out = folder.path() / "measured";
  const std::vector<std::string> command = {"eval", "model", "--data", "reviews.csv", "-o", out};
  const Json result = run_json(command, workshop());
  EXPECT_EQ(entries(out), (std::vector<std::string>{"machine.json", "report.html", "results.json",
                                                    "run.log", "settings.json"}));
  EXPECT_EQ(read_json(out / "results.json"), result);
  const std::string page = read_file(out / "report.html");
  const double accuracy = result["eval_accuracy"];
  for (const std::string& part :
       {fmt::format("<h1>{:.2f} % of 40 texts are classified right.</h1>", 100 * accuracy),
        std::string("none: nothing was drawn at random"), std::string("taken for good"),
        std::string("<dd>fp32</dd>")})
    EXPECT_NE(page.find(part), std::string::npos) << part;
  const Ending again = run_hone(command, workshop());
  EXPECT_EQ(again.code, 1);
  EXPECT_NE(again.messages.find("exists already"), std::string::npos) << again.messages;
}

}  // namespace
}  // namespace hone::testing
