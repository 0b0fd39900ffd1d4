#include <gtest/gtest.h>

#include "tests/cli/run_hone.h"
#include "tests/support/expect.h"

namespace hone::testing {
namespace {

// Six steps of eight texts on built-in data.
std::vector<std::string> training(std::vector<std::string> more) {
  std::vector<std::string> words = {"train",       "tiny", "--data",          "synth:lookup?n=300",
                                    "--max_steps", "6",    "--logging_steps", "2"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST(Train, SaysWhatTheWeightsTake) {
  const TemporaryFolder folder;
  const std::vector<std::string> words = {
      "train", "tiny", "--data", workshop() / "reviews.csv", "--max_steps", "1", "-o"};
  std::vector<std::string> json = words, text = words;
  json.push_back("json");
  text.push_back("text");
  const Json size = run_json(json, folder.path())["size"];
  EXPECT_EQ(size["disk_bytes"], fs::file_size(folder.path() / "json/model.safetensors"));
  EXPECT_EQ(size["memory_bytes"], 4 * size["parameters"].get<std::int64_t>());
  const std::string shown = run_well(text, folder.path()).output;
  EXPECT_NE(shown.find("\nWeights: "), std::string::npos) << shown;
  EXPECT_NE(read_file(folder.path() / "text/report.html").find("Weights: "), std::string::npos);
}

TEST(Train, WritesAFolderThatHuggingFaceReads) {
  const TemporaryFolder folder;
  const Json result = run_json(training({"-o", "model"}), folder.path());
  const fs::path model = folder.path() / "model";
  EXPECT_EQ(entries(folder.path()), std::vector<std::string>{"model"});
  EXPECT_EQ(entries(model),
            (std::vector<std::string>{
                "checkpoint-6", "config.json", "learning_curve.csv", "learning_curve.gp",
                "learning_curve.png", "learning_curve.svg", "learning_curve.tsv", "machine.json",
                "model.safetensors", "report.html", "results.json", "run.log", "settings.json",
                "tokenizer_config.json", "training_log.jsonl", "vocab.txt"}));
  EXPECT_EQ(read_json(model / "results.json"), result);
  const Json config = read_json(model / "config.json");
  EXPECT_EQ(config["model_type"], "bert");
  EXPECT_EQ(config["id2label"], (Json{{"0", "negative"}, {"1", "positive"}}));
}

TEST(Train, ReportsWithTheKeysOfHuggingFace) {
  const TemporaryFolder folder;
  const Json result = run_json(training({"-o", "model"}), folder.path());
  EXPECT_EQ(result["steps"], 6);
  // A tenth of the 300 texts is set aside.
  EXPECT_EQ(result["train_samples"], 270);
  EXPECT_EQ(result["validation"]["eval_samples"], 30);
  EXPECT_EQ(result["test"]["eval_samples"], 500);
  for (const char* key : {"train_loss", "train_runtime", "train_samples_per_second"})
    EXPECT_GT(result.value(key, 0.0), 0) << key;
  const std::vector<Json> log = json_lines(read_file(folder.path() / "model/training_log.jsonl"));
  ASSERT_EQ(log.size(), 4);  // steps 2, 4 and 6, then the evaluation of the end
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(log[i]["step"], 2 * (i + 1));
    EXPECT_DOUBLE_EQ(log[i]["epoch"], 2 * (i + 1) / 34.0);  // 270 texts are 34 batches
    for (const char* key : {"loss", "grad_norm", "learning_rate"})
      EXPECT_GT(log[i].value(key, 0.0), 0) << key;
  }
  EXPECT_EQ(log[3]["eval_loss"], result["validation"]["eval_loss"]);
  EXPECT_EQ(log[3]["eval_accuracy"], result["validation"]["eval_accuracy"]);
}

TEST(Train, WritesTheSameBytesWithAnyNumberOfThreads) {
  const TemporaryFolder folder;
  run_well(training({"--threads", "1", "-o", "one"}), folder.path());
  run_well(training({"--threads", "3", "-o", "three"}), folder.path());
  run_well(training({"--seed", "43", "-o", "other_seed"}), folder.path());
  const std::string one = read_file(folder.path() / "one/model.safetensors");
  EXPECT_TRUE(one == read_file(folder.path() / "three/model.safetensors"));
  EXPECT_FALSE(one == read_file(folder.path() / "other_seed/model.safetensors"));
}

TEST(Train, TakesDashesAndUnderscoresInFlagsAsTheSame) {
  const TemporaryFolder folder;
  run_well(training({"--learning_rate", "1e-3", "--weight_decay=0.1", "-o", "a_b"}), folder.path());
  run_well(training({"--learning-rate", "1e-3", "--weight-decay=0.1", "-o", "a-b"}), folder.path());
  EXPECT_TRUE(read_file(folder.path() / "a_b/model.safetensors") ==
              read_file(folder.path() / "a-b/model.safetensors"));
}

TEST(Train, LeavesFrozenParametersAlone) {
  const TemporaryFolder folder;
  run_well(training({"--lr", "0", "-o", "before"}), folder.path());
  run_well(training({"--freeze", "bert.embeddings.*,bert.pooler.*", "--freeze", "bert.encoder.*",
                     "-o", "after"}),
           folder.path());
  // Only the 258 numbers of the classifier may differ.
  const std::string before = read_file(folder.path() / "before/model.safetensors");
  const std::string after = read_file(folder.path() / "after/model.safetensors");
  ASSERT_EQ(before.size(), after.size());
  std::size_t different = 0;
  for (std::size_t i = 0; i < before.size(); ++i) different += before[i] != after[i];
  EXPECT_GT(different, 0);
  EXPECT_LE(different, 258 * sizeof(float));
}

TEST(Train, KeepsTheStandardOutputForResults) {
  const TemporaryFolder folder;
  const Ending shown = run_well(training({"-o", "shown"}), folder.path());
  EXPECT_NE(shown.output.find("6 steps"), std::string::npos);
  EXPECT_NE(shown.output.find("written to shown"), std::string::npos);
  EXPECT_EQ(shown.output.find("texts/s  "), std::string::npos);
  EXPECT_NE(shown.messages.find("train  100 %  6/6 steps"), std::string::npos);
  const Ending quiet = run_well(training({"--quiet", "-o", "quiet"}), folder.path());
  EXPECT_EQ(quiet.messages, "");
}

TEST(Train, ReplacesAFolderOnlyWhenTold) {
  const TemporaryFolder folder;
  fs::create_directory(folder.path() / "model");
  folder.file("model/mine.txt", "keep");
  run_well(training({"--overwrite", "-o", "model"}), folder.path());
  EXPECT_FALSE(fs::exists(folder.path() / "model/mine.txt"));
  EXPECT_TRUE(fs::exists(folder.path() / "model/model.safetensors"));
  EXPECT_EQ(entries(folder.path()), std::vector<std::string>{"model"});
}

}  // namespace
}  // namespace hone::testing
