#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "hone/tensor/safetensors.h"
#include "tests/cli/run_hone.h"
#include "tests/support/expect.h"

namespace hone::testing {
namespace {

// Returns how many operations of a kind the graph had before and has after a pass.
std::pair<int, int> operations_of(const Json& run, const std::string& operation) {
  for (const Json& row : run["operations"])
    if (row["operation"] == operation) return {row["before"], row["after"]};
  return {0, 0};
}

TEST(Passes, AreListedWithTheirOptions) {
  const Ending all = run_well({"passes"}, workshop());
  for (const char* name : {"fold_parameters", "freeze", "quantize", "remove_dropout"})
    EXPECT_NE(all.output.find(name), std::string::npos) << name;
  const Json quantize = run_json({"passes", "quantize"}, workshop());
  EXPECT_EQ(quantize["options"][0]["option"], "format");
  EXPECT_EQ(quantize["options"][0]["required"], true);
  EXPECT_EQ(quantize["options"][0]["default"], nullptr);
  EXPECT_EQ(quantize["options"][2]["default"], "linear");
  const Ending unknown = run_hone({"passes", "freez"}, workshop());
  EXPECT_EQ(unknown.code, 1);
  EXPECT_NE(unknown.messages.find("did you mean 'freeze'?"), std::string::npos);
}

// Runs every example on a model that it changes.
TEST(Passes, ExamplesRunAsTheyAreShown) {
  const TemporaryFolder folder;
  const auto on = [&](const std::string& line) { run_well(shell_words(line), folder.path()); };
  fs::copy(workshop() / "model", folder.path() / "model", fs::copy_options::recursive);
  on("pass model insert_lora r=2 -o adapted");
  on("pack model --weight_format int(bits=8,per=row) -o packed");
  on("pass model prune -o masked");
  on("quantize model --format bf16 --data " + (workshop() / "reviews.csv").string() +
     " -o rounded");
  const std::map<std::string, std::string> subjects = {{"fuse_lora", "adapted"},
                                                       {"pack", "rounded"},
                                                       {"remove_quantizers", "rounded"},
                                                       {"unpack", "packed"},
                                                       {"unprune", "masked"}};
  // The first two find nothing to change in graphs of the front ends. The last asks for more rows than there are.
  const std::set<std::string> idle = {"merge_equal", "remove_dead_code", "trim_vocabulary"};
  int shown = 0;
  const Json all = run_json({"passes"}, folder.path());
  for (const Json& row : all["passes"]) {
    const std::string name = row["pass"];
    SCOPED_TRACE(name);
    if (row["use"] == "run") {
      EXPECT_TRUE(row["example"].is_null());
      const Ending refused = run_hone(
          {"pass", "model", name, name == "keep_outputs" ? "names=loss" : "", "-o", "none"},
          folder.path());
      EXPECT_NE(refused.code, 0);
      continue;
    }
    const std::string example = row["example"];
    EXPECT_NE(run_well({"passes", name}, folder.path()).output.find(example), std::string::npos);
    std::vector<std::string> words = shell_words(example);
    words.erase(words.begin());
    words[1] = subjects.contains(name) ? subjects.at(name) : "model";
    if (row["use"] == "look") {  // which writes no folder
      run_well(words, folder.path());
      continue;
    }
    words.back() = "after-" + name;
    const Ending ending = run_hone(words, folder.path());
    EXPECT_EQ(ending.code, idle.contains(name) ? 1 : 0) << ending.messages;
    if (ending.code == 0) run_well({"predict", words.back(), "fine"}, folder.path());
    ++shown;
  }
  EXPECT_GT(shown, 8);
}

TEST(Passes, AreToldAndDumpedAsTheyRun) {
  const TemporaryFolder folder;
  const fs::path dump = folder.path() / "graphs";
  const Ending ending = run_well({"eval", "model", "--data", "reviews.csv", "--validation_split",
                                  "0", "--show_passes", "--dump_passes", dump},
                                 workshop());
  EXPECT_NE(ending.messages.find("pass remove_dropout: "), std::string::npos) << ending.messages;
  EXPECT_NE(ending.messages.find("verified in "), std::string::npos) << ending.messages;
  EXPECT_NE(read_file(dump / "001-remove_dropout.hone").find("output logits = "),
            std::string::npos);
  EXPECT_TRUE(fs::exists(dump / "011-fold_parameters.hone"));
  const Ending again =
      run_hone({"eval", "model", "--data", "reviews.csv", "--dump_passes", dump}, workshop());
  EXPECT_EQ(again.code, 1);
  EXPECT_NE(again.messages.find("is not empty"), std::string::npos) << again.messages;
}

TEST(Passes, CanBeLeftOut) {
  const std::vector<std::string> eval = {
      "eval", "model", "--data", "reviews.csv", "--validation_split", "0"};
  std::vector<std::string> unfolded = eval, unknown = eval;
  unfolded.insert(unfolded.end(), {"--skip_pass", "fold_parameters"});
  EXPECT_EQ(run_json(unfolded, workshop())["evaluations"],
            run_json(eval, workshop())["evaluations"]);
  unknown.insert(unknown.end(), {"--skip_pass", "fold"});
  EXPECT_EQ(run_hone(unknown, workshop()).code, 1);
  // Skipping a pass that an option needs is a user error.
  const TemporaryFolder folder;
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"bench", "model", "--format", "bf16", "--skip_pass", "quantize"},
        {"quantize", "model", "--format", "bf16", "--data", "reviews.csv", "-o",
         folder.path() / "q", "--skip_pass", "quantize"},
        {"train", "model", "--data", "reviews.csv", "--class_weights", "balanced", "--max_steps",
         "1", "-o", folder.path() / "t", "--skip_pass", "weigh_classes"}}) {
    const Ending ending = run_hone(command, workshop());
    EXPECT_EQ(ending.code, 1) << ending.messages;
    EXPECT_NE(ending.messages.find("is requested and cannot be skipped"), std::string::npos)
        << ending.messages;
  }
}

TEST(Passes, AreRunForGood) {
  const TemporaryFolder folder;
  const fs::path model = workshop() / "model";
  const Json run = run_json({"pass", model, "remove_dropout", "-o", "calm"}, folder.path());
  EXPECT_EQ(run["pass"], "remove_dropout");
  // bert-tiny has dropout after the embeddings, after the scores and both dense layers of two layers, and before the
  // classifier.
  EXPECT_EQ(operations_of(run, "dropout"), (std::pair{8, 0}));
  EXPECT_EQ(operations_of(run, "linear"), (std::pair{14, 14}));
  EXPECT_EQ(run["parameters_before"], run["parameters"]);
  EXPECT_EQ(run["others_load"], true) << "dropout is of training alone";
  EXPECT_EQ(run["others_load_reason"], nullptr);
  EXPECT_TRUE(fs::exists(folder.path() / "calm/model.safetensors"));
  EXPECT_EQ(run_json({"predict", "calm", "a fine film"}, folder.path())["logits"],
            run_json({"predict", model, "a fine film"}, folder.path())["logits"]);
  const Ending again = run_hone({"pass", "calm", "remove_dropout", "-o", "calmer"}, folder.path());
  EXPECT_EQ(again.code, 1);
  EXPECT_NE(again.messages.find("pass remove_dropout: changes nothing in calm"), std::string::npos)
      << again.messages;
  EXPECT_FALSE(fs::exists(folder.path() / "calmer"));
  // A list of names may contain commas. transformers cannot express a model without these layers.
  const std::string dense = "bert.encoder.layer.1.attention.output.dense";
  const Json less = run_json(
      {"pass", model, "replace_by_identity", "names=" + dense + ",bert.pooler.dense", "-o", "less"},
      folder.path());
  EXPECT_EQ(less["parameters_before"].get<int>() - less["parameters"].get<int>(),
            2 * (128 * 128 + 128));
  EXPECT_EQ(operations_of(less, "linear"), (std::pair{14, 12}));
  EXPECT_TRUE(fs::exists(folder.path() / "less/graph.hone"));
  EXPECT_EQ(run_json({"inspect", "less"}, folder.path())["command"], "inspect");
}

TEST(Passes, LeaveWhatOtherJobsLeave) {
  const TemporaryFolder folder;
  const fs::path model = workshop() / "model", data = workshop() / "reviews.csv";
  const Ending ending = run_well({"pass", model, "fuse_attention", "-o", "fused"}, folder.path());
  for (const char* sentence :
       {"attention", "matmul", "(batch size 32, 128 tokens)", "not measured", "Give --data",
        "Only hone loads it: its graph has bert.encoder.layer.0."})
    EXPECT_NE(ending.output.find(sentence), std::string::npos) << sentence << ending.output;
  const std::vector<std::string> files = entries(folder.path() / "fused");
  for (const char* file : {"README.md", "machine.json", "record.json", "report.html", "report.md",
                           "results.json", "run.log", "settings.json"})
    EXPECT_NE(std::ranges::find(files, file), files.end()) << file;
  const std::string card = read_file(folder.path() / "fused/README.md");
  for (const char* sentence :
       {"library_name: hone", "after the pass `fuse_attention`", "It was not evaluated.",
        "hone pass ", "- pass over its graph: `fuse_attention`",
        "Only hone loads it: its graph has bert.encoder.layer.0."})
    EXPECT_NE(card.find(sentence), std::string::npos) << sentence << card;
  EXPECT_EQ(card.find("- data: "), std::string::npos) << card;
  // --overwrite replaces a folder of the same job only.
  run_well({"pass", model, "fuse_attention", "-o", "fused", "--overwrite"}, folder.path());

  const Json run = run_json({"pass", model, "replace_by_identity", "names=bert.pooler.dense",
                             "--data", data, "--split", "all", "-o", "less"},
                            folder.path());
  EXPECT_EQ(run["split"], "all");
  EXPECT_EQ(run["n"], kReviews);
  EXPECT_EQ(
      run["before"]["eval_accuracy"],
      run_json({"eval", model, "--data", data, "--split", "all"}, folder.path())["eval_accuracy"]);
  EXPECT_NEAR(
      run["after"]["eval_loss"].get<double>(),
      run_json({"eval", "less", "--data", data, "--split", "all"}, folder.path())["eval_loss"]
          .get<double>(),
      1e-9);
  for (const char* key : {"verdict", "flip_share", "flip_interval"})
    EXPECT_TRUE(run["comparison"].contains(key)) << key;
  EXPECT_EQ(run["others_load"], false);
  EXPECT_EQ(run["others_load_reason"],
            "its graph lacks bert.pooler.dense (linear), which its config builds");
  EXPECT_NE(read_file(folder.path() / "less/README.md").find("| this model | all | 40 | "),
            std::string::npos);
  EXPECT_NE(read_page(folder.path() / "less/report.html").find("On all, n = 40"),
            std::string::npos);
}

// Training continues from the unrounded weights, whatever passes changed the graph in between.
TEST(Passes, TakeUnroundedWeightsAlong) {
  const TemporaryFolder folder;
  run_well({"quantize", workshop() / "model", "--format", "integer(width=6,frac=4)", "--qat",
            "--max_steps", "2", "--lr", "1e-3", "--data", workshop() / "reviews.csv", "-o", "qat"},
           folder.path());
  ASSERT_TRUE(fs::exists(folder.path() / "qat/unrounded.safetensors"));
  run_well({"pass", "qat", "remove_dropout", "-o", "calm"}, folder.path());
  EXPECT_EQ(read_file(folder.path() / "calm/unrounded.safetensors"),
            read_file(folder.path() / "qat/unrounded.safetensors"));
  const Json run = run_json({"pass", "qat", "remove_dropout", "-o", "again"}, folder.path());
  EXPECT_EQ(run["arithmetic"], "simulated");
  run_well({"pass", "qat", "drop_layers", "layers=0", "-o", "shallow"}, folder.path());
  const auto before = read_safetensors(folder.path() / "qat/unrounded.safetensors").tensors;
  const std::string first = "bert.encoder.layer.0.intermediate.dense.weight",
                    second = "bert.encoder.layer.1.intermediate.dense.weight";
  const auto after = read_safetensors(folder.path() / "shallow/unrounded.safetensors").tensors;
  EXPECT_EQ(after.count(second), 0);
  EXPECT_TRUE(
      std::ranges::equal(after.at(first).values<float>(), before.at(second).values<float>()));
}

// Fused attention applies dropout to its weights, so it can be trained like any other model.
TEST(Passes, LeaveModelsThatCanBeTrained) {
  const TemporaryFolder folder;
  const fs::path model = workshop() / "model", data = workshop() / "reviews.csv";
  run_well({"pass", model, "fuse_attention", "-o", "fused"}, folder.path());
  const auto train = [&](const std::string& from, const std::string& to) {
    return run_json({"train", from, "--data", data, "--max_steps", "3", "--lr", "1e-3", "-o", to},
                    folder.path());
  };
  const double steps = train(model, "by-steps")["train_loss"],
               fused = train("fused", "by-one")["train_loss"];
  EXPECT_NEAR(steps, fused, 1e-5);
  EXPECT_NE(read_file(folder.path() / "by-one/graph.hone").find(" = attention("),
            std::string::npos);
}

TEST(Passes, SayWhatDoesNotFit) {
  const TemporaryFolder folder;
  const fs::path model = workshop() / "model";
  const auto expect_refusal = [&](const std::string& fragment, std::vector<std::string> words,
                                  int code = 1) {
    words.insert(words.begin(), {"pass", model});
    words.insert(words.end(), {"-o", "none"});
    const Ending ending = run_hone(words, folder.path());
    EXPECT_EQ(ending.code, code) << ending.messages;
    EXPECT_NE(ending.messages.find(fragment), std::string::npos) << ending.messages;
    EXPECT_FALSE(fs::exists(folder.path() / "none"));
  };
  expect_refusal("there is no pass 'remove_dropouts'", {"remove_dropouts"});
  expect_refusal("expected OPTION=VALUE, got 'bert.*'", {"freeze", "bert.*"}, 2);
  expect_refusal("has no option 'name'", {"freeze", "name=bert.*"});
  expect_refusal("prepares a graph for a run", {"keep_outputs", "names=logits"});
  expect_refusal("prepares a graph for a run", {"fuse_linear"});
  expect_refusal("names is given twice", {"freeze", "names=a", "names=b"});
  expect_refusal("needs names: globs over names of parameters", {"freeze"});
  expect_refusal("r: expected a whole number, got 'many'", {"insert_lora", "r=many"});
  expect_refusal("unknown format 'bf17'", {"quantize", "format=bf17"});
  expect_refusal("cannot replace it", {"replace_by_identity", "names=classifier"});
}

}  // namespace
}  // namespace hone::testing
