#include <gtest/gtest.h>

#include <numeric>

#include "hone/tensor/safetensors.h"
#include "tests/cli/run_hone.h"
#include "tests/support/expect.h"

namespace hone::testing {
namespace {

TEST(Eval, MeasuresAllOfASingleFile) {
  const Json result =
      run_json({"eval", "model", "--data", "reviews.csv", "--split", "all"}, workshop());
  EXPECT_EQ(result["eval_samples"], kReviews);
  EXPECT_EQ(result["arithmetic"], "fp32");
  const double accuracy = result["eval_accuracy"];
  EXPECT_LE(result["eval_accuracy_interval"][0], accuracy);
  EXPECT_GE(result["eval_accuracy_interval"][1], accuracy);
  // Both classes are equally frequent, so accuracy is the mean of their recalls.
  const Json& classes = result["eval_classes"];
  const double bad = classes["bad"]["recall"], good = classes["good"]["recall"];
  EXPECT_DOUBLE_EQ(accuracy, (bad + good) / 2);
}

TEST(Eval, SaysThatASingleFileHasNoSplits) {
  for (const char* command : {"eval", "predict"}) {
    const Ending ending =
        run_hone({command, "model", "--data", "reviews.csv", "--split", "test"}, workshop());
    EXPECT_EQ(ending.code, 1);
    EXPECT_NE(ending.messages.find("a single file has no splits: leave --split out"),
              std::string::npos)
        << ending.messages;
  }
}

TEST(Eval, FindsWhatTrainingMeasured) {
  const TemporaryFolder folder;
  const std::vector<std::string> data = {"--data", "synth:lookup?n=300&test=60"};
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
  EXPECT_EQ(result["arithmetic"], "simulated");
  EXPECT_EQ(result["format"], format);
  EXPECT_EQ(result["average_weight_bits"], 8);
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
  const Ending ending =
      run_well({"eval", "model", "--data", "reviews.csv", "--split", "all"}, workshop());
  for (const char* figure : {"Accuracy", "Loss", "macro mean", "weighted mean", "AUC of good",
                             "Arithmetic", "Precision", "predicted as bad"})
    EXPECT_NE(ending.output.find(figure), std::string::npos) << figure;
  EXPECT_TRUE(ending.output.starts_with("Accuracy ")) << ending.output;
  EXPECT_NE(ending.output.find(" on all, n = 40, 36 of them trained on; "), std::string::npos)
      << ending.output;
  EXPECT_NE(ending.output.substr(0, ending.output.find('\n'))
                .find("always predicting the most frequent class"),
            std::string::npos);
  EXPECT_NE(ending.messages.find("evaluate  100%  40/40 texts"), std::string::npos);
}

// A classifier that always predicts the second class.
TEST(Eval, WarnsOfAModelThatPredictsOneClassOnly) {
  const TemporaryFolder folder;
  fs::copy(workshop() / "model", folder.path() / "model", fs::copy_options::recursive);
  const fs::path weights = folder.path() / "model/model.safetensors";
  TensorMap tensors;
  for (const auto& [name, tensor] : read_safetensors(weights).tensors)
    tensors.emplace(name, tensor.contiguous_copy());
  tensors.at("classifier.bias").values<float>()[1] = 1000;
  fs::remove(weights);
  write_safetensors(weights, tensors, {{"format", "pt"}});
  const std::string data = workshop() / "reviews.csv";
  const std::string warning =
      "the model predicts one class only, 'good': correct for 20 of 40 examples";
  const Ending ending =
      run_well({"eval", "model", "--data", data, "--split", "all", "--json"}, folder.path());
  EXPECT_NE(ending.messages.find("warning: " + warning), std::string::npos) << ending.messages;
  EXPECT_EQ(json_lines(ending.output)[0]["eval_only_predicts"], "good");
  const Ending quantized = run_well(
      {"quantize", "model", "--format", "int(bits=8)", "--data", data, "-o", "q"}, folder.path());
  for (const char* when : {"before", "after"})
    EXPECT_NE(
        quantized.messages.find(fmt::format("warning: {} quantizing, the model predicts", when)),
        std::string::npos)
        << quantized.messages;
  const Ending compared =
      run_well({"compare", "model", "model", "--data", data, "--split", "all"}, folder.path());
  EXPECT_NE(compared.messages.find("warning: model (B): " + warning), std::string::npos)
      << compared.messages;
}

TEST(Eval, LeavesAReportWhereItIsAskedTo) {
  const TemporaryFolder folder;
  const fs::path out = folder.path() / "measured";
  const std::vector<std::string> command = {"eval",    "model", "--data", "reviews.csv",
                                            "--split", "all",   "-o",     out};
  const Json result = run_json(command, workshop());
  EXPECT_EQ(entries(out),
            (std::vector<std::string>{"machine.json", "record.json", "report.html", "report.md",
                                      "results.json", "run.log", "settings.json"}));
  EXPECT_EQ(read_json(out / "results.json"), result);
  const std::string page = read_page(out / "report.html");
  const double accuracy = result["eval_accuracy"];
  for (const std::string& part : {fmt::format(">Accuracy {:.1f}% (95% CI ", 100 * accuracy),
                                  std::string(" on all, n = 40, 36 of them trained on; always "),
                                  std::string("none; nothing is random"),
                                  std::string("predicted as good"), std::string("<dd>fp32</dd>")})
    EXPECT_NE(page.find(part), std::string::npos) << part;
  const Ending again = run_hone(command, workshop());
  EXPECT_EQ(again.code, 1);
  EXPECT_NE(again.messages.find("exists already"), std::string::npos) << again.messages;
}

}  // namespace
}  // namespace hone::testing
