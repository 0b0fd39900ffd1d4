#include <gtest/gtest.h>

#include <algorithm>

#include "hone/base/text.h"
#include "hone/tensor/safetensors.h"
#include "tests/cli/run_hone.h"
#include "tests/support/expect.h"

namespace hone::testing {
namespace {

// Returns a training of six steps with eight texts each on built-in data.
std::vector<std::string> six_steps(std::vector<std::string> more) {
  std::vector<std::string> words = {
      "train",       "tiny", "--data",          "synth:lookup?n=300&test=60",
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
  EXPECT_EQ(shown.find("95% from"), std::string::npos) << "the interval stands beside its figure";
  EXPECT_NE(read_file(folder.path() / "text/report.html").find("Weights: "), std::string::npos);
}

TEST(Train, WritesAFolderThatHuggingFaceReads) {
  const TemporaryFolder folder;
  const Json result = run_json(six_steps({"-o", "model"}), folder.path());
  const fs::path model = folder.path() / "model";
  EXPECT_EQ(entries(folder.path()), std::vector<std::string>{"model"});
  EXPECT_EQ(entries(model), (std::vector<std::string>{"README.md",
                                                      "checkpoint-6",
                                                      "config.json",
                                                      "learning_curve.csv",
                                                      "learning_curve.gp",
                                                      "learning_curve.png",
                                                      "learning_curve.svg",
                                                      "learning_curve.tsv",
                                                      "machine.json",
                                                      "model.safetensors",
                                                      "record.json",
                                                      "report.html",
                                                      "report.md",
                                                      "results.json",
                                                      "run.log",
                                                      "settings.json",
                                                      "tokenizer_config.json",
                                                      "trained_on.safetensors",
                                                      "training_log.jsonl",
                                                      "vocab.txt"}));
  EXPECT_EQ(read_json(model / "results.json"), result);
  const Json config = read_json(model / "config.json");
  EXPECT_EQ(config["model_type"], "bert");
  EXPECT_EQ(config["id2label"], (Json{{"0", "negative"}, {"1", "positive"}}));
}

TEST(Train, ReportsWithTheKeysOfHuggingFace) {
  const TemporaryFolder folder;
  const Json result = run_json(six_steps({"-o", "model"}), folder.path());
  EXPECT_EQ(result["steps"], 6);
  // A tenth of the 300 texts is the validation split.
  EXPECT_EQ(result["train_samples"], 270);
  EXPECT_EQ(result["validation"]["eval_samples"], 30);
  EXPECT_EQ(result["test"]["eval_samples"], 60);
  // With 30 and 60 texts, Newcombe's interval is wide.
  const Json& gap = result["validation_test_gap_interval"];
  EXPECT_LT(gap[0], result["validation_test_gap"]);
  EXPECT_GT(gap[1].get<double>() - gap[0].get<double>(), 0.2);
  for (const char* key : {"train_loss", "train_runtime", "train_samples_per_second"})
    EXPECT_GT(result.value(key, 0.0), 0) << key;
  const std::vector<Json> log = json_lines(read_file(folder.path() / "model/training_log.jsonl"));
  ASSERT_EQ(log.size(), 4);  // steps 2, 4 and 6, and the final evaluation
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(log[i]["step"], 2 * (i + 1));
    EXPECT_DOUBLE_EQ(log[i]["epoch"], 2 * (i + 1) / 34.0);  // 270 texts are 34 batches
    for (const char* key : {"loss", "grad_norm", "learning_rate"})
      EXPECT_GT(log[i].value(key, 0.0), 0) << key;
  }
  EXPECT_EQ(log[3]["eval_loss"], result["validation"]["eval_loss"]);
  EXPECT_EQ(log[3]["eval_accuracy"], result["validation"]["eval_accuracy"]);
}

// Runtimes of two evaluations differ, so equal ones show that the log and the result share one.
TEST(Train, MeasuresTheValidationPartOnce) {
  const TemporaryFolder folder;
  for (const bool best : {false, true}) {
    std::vector<std::string> words = six_steps({"--eval_steps", "2", "-o", best ? "best" : "last"});
    if (best) words.push_back("--load_best_model_at_end");
    const Json result = run_json(words, folder.path());
    const std::vector<Json> log = json_lines(
        read_file(folder.path() / words[words.size() - (best ? 2 : 1)] / "training_log.jsonl"));
    int found = 0;
    for (const Json& line : log)
      if (line.contains("eval_runtime") && line["step"] == result["weights_of_step"]) {
        EXPECT_EQ(line["eval_runtime"], result["validation"]["eval_runtime"]);
        ++found;
      }
    EXPECT_EQ(found, 1);
  }
}

TEST(Train, MeasuresOnceWhereTheTestPartIsTheValidationPart) {
  const TemporaryFolder folder;
  const Json result = run_json(six_steps({"--protocol", "original", "-o", "model"}), folder.path());
  for (const auto& [key, value] : result["test"].items()) {
    if (!key.starts_with("eval_")) continue;
    EXPECT_EQ(value, result["validation"][key]) << key;
  }
  EXPECT_TRUE(result["test"].contains("eval_runtime"));
}

// Warnings common to all seeds are printed once, with a count.
TEST(Train, WarnsOfAllSeedsTogether) {
  const TemporaryFolder folder;
  const Ending ending =
      run_well(six_steps({"--lr", "0", "--seeds", "3", "-o", "model"}), folder.path());
  const auto count = [&](std::string_view words) {
    std::size_t found = 0;
    for (std::size_t at = ending.messages.find(words); at != std::string::npos;
         at = ending.messages.find(words, at + 1))
      ++found;
    return found;
  };
  EXPECT_EQ(count("does not show that the model has learned with "), 1u) << ending.messages;
  EXPECT_EQ(count("warning: test: the model predicts one class only, "), 1u) << ending.messages;
  EXPECT_NE(read_file(folder.path() / "model/run.log")
                .find("does not show that the model has learned with "),
            std::string::npos);
  const Json result = read_json(folder.path() / "model/results.json");
  for (const Json& run : result["runs"]) EXPECT_TRUE(run.contains("seed"));
}

TEST(Train, SaysWhenNothingWasLearned) {
  const TemporaryFolder folder;
  const Ending ending = run_well(six_steps({"--lr", "0", "-o", "model"}), folder.path());
  EXPECT_NE(ending.messages.find(
                "warning: test: the accuracy does not show that the model has learned: "),
            std::string::npos)
      << ending.messages;
  EXPECT_NE(read_file(folder.path() / "model/report.html")
                .find("does not show that the model has learned"),
            std::string::npos);
}

TEST(Train, ShowsPrecisionRecallAndConfusion) {
  const TemporaryFolder folder;
  const Ending ending = run_well(six_steps({"-o", "model"}), folder.path());
  for (const char* text :
       {"Test, n = 60", "Precision", "macro mean", "predicted as negative", "AUC of positive: "})
    EXPECT_NE(read_page(folder.path() / "model/report.html").find(text), std::string::npos) << text;
  // The accuracy comes first, then the tables.
  EXPECT_TRUE(ending.output.starts_with("Accuracy ")) << ending.output;
  EXPECT_NE(ending.output.substr(0, ending.output.find('\n'))
                .find(" on test, n = 60; always predicting the most frequent class"),
            std::string::npos);
  const Json results = read_json(folder.path() / "model/results.json");
  const Json& rows = results["test"]["eval_confusion"];
  std::int64_t texts = 0;
  for (const Json& row : rows)
    for (const Json& count : row) texts += count.get<std::int64_t>();
  EXPECT_EQ(texts, 60);
  EXPECT_NE(read_file(folder.path() / "model/report.html").find("predicted as negative"),
            std::string::npos);
}

TEST(Train, WeighsClasses) {
  const TemporaryFolder folder;
  std::string rows = "text,label\n";
  for (int i = 0; i < 40; ++i) rows += fmt::format("film {},{}\n", i, i % 4 == 0 ? "good" : "bad");
  folder.file("reviews.csv", rows);
  const std::vector<std::string> words = {
      "train", "tiny",        "--data", "reviews.csv", "--validation_split",
      "0",     "--max_steps", "1",      "-o"};
  const auto result = [&](const std::string& out, const std::vector<std::string>& more) {
    std::vector<std::string> all = words;
    all.push_back(out);
    all.insert(all.end(), more.begin(), more.end());
    return run_json(all, folder.path());
  };
  const Json plain = result("plain", {}), balanced = result("b", {"--class_weights", "balanced"});
  EXPECT_TRUE(plain["class_weights"].is_null());
  EXPECT_FLOAT_EQ(balanced["class_weights"]["bad"], 40 / (2 * 30.0f));
  EXPECT_FLOAT_EQ(balanced["class_weights"]["good"], 40 / (2 * 10.0f));
  EXPECT_NE(plain["train_loss"], balanced["train_loss"]);
  const Ending refused = run_hone({"train", "tiny", "--data", "reviews.csv", "--max_steps", "1",
                                   "-o", "no", "--class_weights", "1,2,3"},
                                  folder.path());
  EXPECT_EQ(refused.code, 1);
  EXPECT_NE(refused.messages.find("--class_weights: expected 2 numbers, one for each of bad, good"),
            std::string::npos)
      << refused.messages;
}

TEST(Train, WarmsUpByAShareOfTheSteps) {
  const TemporaryFolder folder;
  run_well(six_steps({"--warmup_steps", "2", "-o", "steps"}), folder.path());
  run_well(six_steps({"--warmup_ratio", "0.33", "-o", "share"}), folder.path());  // 1.98 of 6 steps
  EXPECT_TRUE(read_file(folder.path() / "steps/model.safetensors") ==
              read_file(folder.path() / "share/model.safetensors"));
}

TEST(Train, BeginsWithAFreshHeadForOtherLabelsWhenTold) {
  const TemporaryFolder folder;
  folder.file("topics.csv", "text,label\na fine film,art\na dull match,sport\na vote,law\n");
  const auto words = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"train", workshop() / "model", "--data", "topics.csv", "--max_steps",
                               "1", "--validation_split", "0", "-o", "topics"});
    return more;
  };
  const Ending refused = run_hone(words({}), folder.path());
  EXPECT_EQ(refused.code, 1);
  for (const char* part :
       {"label 'art' is not one of the model's classes: bad, good; the data's are: "
        "art, law, sport; map them with --label_map art=CLASS",
        "; give --ignore_mismatched_sizes"})
    EXPECT_NE(refused.messages.find(part), std::string::npos) << refused.messages;
  const Ending done = run_well(words({"--ignore_mismatched_sizes"}), folder.path());
  EXPECT_NE(
      done.messages.find("warning: the model's labels are bad, good, the data's are art, law, "
                         "sport: classifier.bias, classifier.weight are initialized at random"),
      std::string::npos)
      << done.messages;
  EXPECT_EQ(read_json(folder.path() / "topics/config.json")["id2label"],
            (Json{{"0", "art"}, {"1", "law"}, {"2", "sport"}}));
}

TEST(Train, BeginsWithAFreshHeadForAModelThatDoesNotNameItsLabels) {
  const TemporaryFolder folder;
  folder.file("topics.csv", "text,label\na fine film,art\na dull match,sport\na vote,law\n");
  fs::copy(workshop() / "model", folder.path() / "unnamed", fs::copy_options::recursive);
  Json config = read_json(folder.path() / "unnamed/config.json");
  for (const char* key : {"id2label", "label2id", "problem_type"}) config.erase(key);
  config["num_labels"] = 2;
  write_file(folder.path() / "unnamed/config.json", to_document(config));
  run_well({"train", "unnamed", "--data", "topics.csv", "--max_steps", "1", "--validation_split",
            "0", "-o", "topics", "--ignore_mismatched_sizes"},
           folder.path());
  EXPECT_EQ(read_json(folder.path() / "topics/config.json")["id2label"],
            (Json{{"0", "art"}, {"1", "law"}, {"2", "sport"}}));
}

// The encoder keeps its trained weights.
TEST(Train, KeepsTheRestOfAModelUnderAFreshHead) {
  const TemporaryFolder folder;
  folder.file("topics.csv", "text,label\na fine film,art\na dull match,sport\na vote,law\n");
  run_well({"train", workshop() / "model", "--data", "topics.csv", "--max_steps", "1", "--lr", "0",
            "--validation_split", "0", "-o", "topics", "--ignore_mismatched_sizes"},
           folder.path());
  const auto before = read_safetensors(workshop() / "model/model.safetensors"),
             after = read_safetensors(folder.path() / "topics/model.safetensors");
  for (const auto& [name, tensor] : before.tensors) {
    if (name.starts_with("classifier.")) continue;
    EXPECT_TRUE(std::ranges::equal(tensor.values<float>(), after.tensors.at(name).values<float>()))
        << name;
  }
  EXPECT_EQ(after.tensors.at("classifier.weight").size(0), 3);
}

TEST(Train, ReportsToTensorboard) {
  const TemporaryFolder folder;
  run_well(six_steps({"--report_to", "tensorboard", "-o", "model"}), folder.path());
  EXPECT_EQ(entries(folder.path() / "model/runs"),
            std::vector<std::string>{"events.out.tfevents.hone"});
  const std::string events = read_file(folder.path() / "model/runs/events.out.tfevents.hone");
  for (const char* tag : {"train/loss", "train/learning_rate", "train/grad_norm", "eval/loss",
                          "eval/accuracy", "eval/f1_macro"})
    EXPECT_NE(events.find(tag), std::string::npos) << tag;
  run_well(six_steps({"-o", "without"}), folder.path());
  EXPECT_FALSE(fs::exists(folder.path() / "without/runs"));
  const Ending refused = run_hone(six_steps({"--report_to", "wandb", "-o", "no"}), folder.path());
  EXPECT_EQ(refused.code, 2);
  EXPECT_NE(refused.messages.find("--report_to: expected none or tensorboard, got 'wandb'"),
            std::string::npos)
      << refused.messages;
}

TEST(Train, WritesTheSameBytesWithAnyNumberOfThreads) {
  const TemporaryFolder folder;
  run_well(six_steps({"--threads", "1", "-o", "one"}), folder.path());
  run_well(six_steps({"--threads", "3", "-o", "three"}), folder.path());
  run_well(six_steps({"--seed", "43", "-o", "other_seed"}), folder.path());
  const std::string one = read_file(folder.path() / "one/model.safetensors");
  EXPECT_TRUE(one == read_file(folder.path() / "three/model.safetensors"));
  EXPECT_FALSE(one == read_file(folder.path() / "other_seed/model.safetensors"));
}

TEST(Train, TakesDashesAndUnderscoresInFlagsAsTheSame) {
  const TemporaryFolder folder;
  run_well(six_steps({"--learning_rate", "1e-3", "--weight_decay=0.1", "-o", "a_b"}),
           folder.path());
  run_well(six_steps({"--learning-rate", "1e-3", "--weight-decay=0.1", "-o", "a-b"}),
           folder.path());
  EXPECT_TRUE(read_file(folder.path() / "a_b/model.safetensors") ==
              read_file(folder.path() / "a-b/model.safetensors"));
}

TEST(Train, LeavesFrozenParametersAlone) {
  const TemporaryFolder folder;
  run_well(six_steps({"--lr", "0", "-o", "before"}), folder.path());
  run_well(six_steps({"--freeze", "bert.embeddings.*,bert.pooler.*", "--freeze", "bert.encoder.*",
                      "-o", "after"}),
           folder.path());
  // Only the 258 values of the classifier may differ.
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
  const Ending shown = run_well(six_steps({"-o", "shown"}), folder.path());
  EXPECT_NE(shown.output.find("6 steps"), std::string::npos);
  EXPECT_NE(shown.output.find("Written to shown"), std::string::npos);
  EXPECT_EQ(shown.output.find("texts/s  "), std::string::npos);
  EXPECT_NE(shown.messages.find("train  100%  6/6 steps"), std::string::npos);
  // --quiet keeps warnings, here that six steps teach nothing.
  const Ending quiet = run_well(six_steps({"--quiet", "-o", "quiet"}), folder.path());
  for (const std::string& line : split(quiet.messages, '\n'))
    EXPECT_TRUE(line.empty() || line.starts_with("warning: ")) << line;
}

TEST(Train, ReplacesAFolderOnlyWhenTold) {
  const TemporaryFolder folder;
  run_well(six_steps({"-o", "model"}), folder.path());
  const Ending again = run_hone(six_steps({"-o", "model"}), folder.path());
  EXPECT_EQ(again.code, 1);
  EXPECT_NE(again.messages.find("model: exists already; give another output folder or --overwrite"),
            std::string::npos)
      << again.messages;
  const std::string before = read_file(folder.path() / "model/model.safetensors");
  run_well(six_steps({"--overwrite", "--seed", "7", "-o", "model"}), folder.path());
  EXPECT_NE(read_file(folder.path() / "model/model.safetensors"), before);
  EXPECT_EQ(entries(folder.path()), std::vector<std::string>{"model"});
}

TEST(Train, ShowsTheClassesOfSeeds) {
  const TemporaryFolder folder;
  const std::string shown = run_well({"train", "tiny", "--data", workshop() / "reviews.csv",
                                      "--max_steps", "1", "--seeds", "2", "-o", "out"},
                                     folder.path())
                                .output;
  const std::string page = read_page(folder.path() / "out/report.html");
  EXPECT_NE(page.find("Validation, n = 4: each of 2 seeds"), std::string::npos) << page;
  EXPECT_NE(page.find("predicted as good"), std::string::npos) << page;
  EXPECT_TRUE(shown.starts_with("Accuracy on validation, n = 4: ")) << shown;
  const Json result = read_json(folder.path() / "out/results.json");
  EXPECT_TRUE(result["runs"][1]["validation"]["eval_classes"].contains("bad"));
  EXPECT_NE(read_page(folder.path() / "out/report.html").find("Classes</"), std::string::npos);
}

// Training for zero steps does not count as training.
TEST(Train, OfNoStepsLeavesTheModelUntrained) {
  const TemporaryFolder folder;
  const Ending ending =
      run_well({"train", "tiny", "--data", workshop() / "reviews.csv", "--epochs", "0", "-o", "un"},
               folder.path());
  EXPECT_NE(ending.messages.find("the training has no steps, so the weights do not change"),
            std::string::npos)
      << ending.messages;
  EXPECT_EQ(read_json(folder.path() / "un/results.json")["train_loss"], nullptr);
  const Ending measured =
      run_well({"eval", "un", "--data", workshop() / "reviews.csv"}, folder.path());
  EXPECT_NE(measured.messages.find("un is not trained: its weights are random"), std::string::npos)
      << measured.messages;
}

// The validation split is used for choices only if something is chosen on it.
TEST(Train, TellsOfChoicesWhereAnyIsMade) {
  const TemporaryFolder folder;
  const auto shown = [&](const std::string& out, const std::vector<std::string>& more) {
    std::vector<std::string> words = {"train",       "tiny", "--data", workshop() / "reviews.csv",
                                      "--max_steps", "2",    "-o",     out};
    words.insert(words.end(), more.begin(), more.end());
    return run_well(words, folder.path()).output;
  };
  const char* caution = "validation, all of them used for choices";
  EXPECT_EQ(shown("plain", {}).find(caution), std::string::npos);
  EXPECT_NE(shown("best", {"--load_best_model_at_end", "--eval_steps", "1"}).find(caution),
            std::string::npos);
}

TEST(Train, LearnsFromAParentWithItsLabels) {
  const TemporaryFolder folder;
  const auto words = [&](const std::vector<std::string>& more) {
    std::vector<std::string> all = {"train",
                                    "tiny",
                                    "--data",
                                    workshop() / "reviews.csv",
                                    "--max_steps",
                                    "4",
                                    "--batch_size",
                                    "4",
                                    "--distill",
                                    workshop() / "model",
                                    "--distill_temperature",
                                    "3",
                                    "--distill_alpha",
                                    "0.25"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  const Ending ending = run_well(words({"-o", "out"}), folder.path());
  EXPECT_NE(ending.output.find(
                "the training loss is 0.25 × label loss + 0.75 × T² × KL divergence from "),
            std::string::npos)
      << ending.output;
  const Json result = read_json(folder.path() / "out/results.json");
  EXPECT_EQ(result["distill"]["temperature"], 3);
  EXPECT_EQ(result["distill"]["alpha"], 0.25);
  // A teacher is identified by its contents, not by its path.
  fs::copy(workshop() / "model", folder.path() / "moved", fs::copy_options::recursive);
  std::vector<std::string> moved = words({"-o", "out", "--resume"});
  *std::ranges::find(moved, (workshop() / "model").string()) = "moved";
  EXPECT_NE(run_well(moved, folder.path()).output.find("finished already"), std::string::npos);
  const auto refuse = [&](const std::string& fragment, std::vector<std::string> asked, int code) {
    const Ending refused = run_hone(asked, folder.path());
    EXPECT_EQ(refused.code, code) << refused.messages;
    EXPECT_NE(refused.messages.find(fragment), std::string::npos) << refused.messages;
  };
  refuse("--distill_alpha requires --distill",
         {"train", "tiny", "--data", "synth:lookup?n=300&test=60", "--distill_alpha", "0.5", "-o",
          "no"},
         2);
  refuse("--distill: the teacher tiny has fresh weights",
         {"train", "tiny", "--data", "synth:lookup?n=300&test=60", "--distill", "tiny", "-o", "no"},
         1);
  refuse(
      "the teacher must have the same labels",
      {"train", "tiny", "--data", "synth:lookup?n=300&test=60", "--distill", "moved", "-o", "no"},
      1);
  refuse("--distill needs --qat, which trains the quantized model with a teacher",
         {"quantize", "moved", "--format", "integer(width=8,frac=4)", "--data",
          workshop() / "reviews.csv", "--distill", "moved", "-o", "no"},
         2);
}

TEST(Train, TakesSettingsOfTheTrainer) {
  const TemporaryFolder folder;
  const auto rates = [&](const std::string& out, const std::vector<std::string>& more) {
    std::vector<std::string> words = {"train",
                                      "tiny",
                                      "--data",
                                      "synth:lookup?n=300&test=60",
                                      "--lr",
                                      "1e-3",
                                      "--max_steps",
                                      "6",
                                      "--logging_steps",
                                      "1",
                                      "-o",
                                      out};
    words.insert(words.end(), more.begin(), more.end());
    run_well(words, folder.path());
    std::vector<double> found;
    for (const std::string& line :
         split(read_file(folder.path() / out / "training_log.jsonl"), '\n')) {
      if (line.empty()) continue;
      const Json record = Json::parse(line);
      if (record.contains("learning_rate")) found.push_back(record["learning_rate"]);
    }
    return found;
  };
  EXPECT_EQ(rates("constant", {"--lr_scheduler_type", "constant"}), std::vector<double>(6, 1e-3));
  EXPECT_EQ(rates("warm", {"--lr_scheduler_type", "constant_with_warmup", "--warmup_steps", "2"}),
            (std::vector<double>{0, 5e-4, 1e-3, 1e-3, 1e-3, 1e-3}));
  const Json settings = read_json(folder.path() / "warm/settings.json");
  EXPECT_EQ(settings["settings"]["lr_scheduler_type"], "constant_with_warmup");
  EXPECT_EQ(settings["settings"]["gradient_accumulation_steps"], 1);
  EXPECT_EQ(settings["settings"]["layerwise_lr_decay"], 1.0);
  const auto refuse = [&](const std::string& fragment, const std::vector<std::string>& more) {
    const Ending refused = run_hone(six_steps(more), folder.path());
    EXPECT_NE(refused.code, 0);
    EXPECT_NE(refused.messages.find(fragment), std::string::npos) << refused.messages;
  };
  refuse(
      "--lr_scheduler_type: expected linear, cosine, constant or constant_with_warmup, got "
      "'polynomial'",
      {"--lr_scheduler_type", "polynomial", "-o", "no"});
  refuse(
      "--lr_scheduler_type constant has no warm-up; omit --warmup_steps and "
      "--warmup_ratio",
      {"--lr_scheduler_type", "constant", "--warmup_steps", "2", "-o", "no"});
  refuse("--layerwise_lr_decay: expected a number above 0 and at most 1, got 1.5",
         {"--layerwise_lr_decay", "1.5", "-o", "no"});
  refuse("--gradient_accumulation_steps: expected a number of at least 1, got 0",
         {"--gradient_accumulation_steps", "0", "-o", "no"});
}

}  // namespace
}  // namespace hone::testing
