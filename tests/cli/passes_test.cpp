#include <gtest/gtest.h>

#include "tests/cli/run_hone.h"
#include "tests/support/expect.h"

namespace hone::testing {
namespace {

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
  EXPECT_TRUE(fs::exists(dump / "008-fold_parameters.hone"));
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
  // What a flag asks for is not left out in silence, nor is that a fault of the program.
  const TemporaryFolder folder;
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"bench", "model", "--format", "bf16", "--skip_pass", "quantize"},
        {"quantize", "model", "--format", "bf16", "--data", "reviews.csv", "-o",
         folder.path() / "q", "--skip_pass", "quantize"},
        {"train", "model", "--data", "reviews.csv", "--class_weights", "balanced", "--max_steps",
         "1", "-o", folder.path() / "t", "--skip_pass", "weigh_classes"}}) {
    const Ending ending = run_hone(command, workshop());
    EXPECT_EQ(ending.code, 1) << ending.messages;
    EXPECT_NE(ending.messages.find("is asked for and cannot be left out"), std::string::npos)
        << ending.messages;
  }
}

TEST(Passes, AreRunForGood) {
  const TemporaryFolder folder;
  const fs::path model = workshop() / "model";
  const Json run = run_json({"pass", model, "remove_dropout", "-o", "calm"}, folder.path());
  EXPECT_EQ(run["pass"], "remove_dropout");
  // bert-tiny's: of the embeddings, of the scores and both denses of two layers, and in front of the classifier.
  EXPECT_EQ(run["before"]["operations"].get<int>() - run["after"]["operations"].get<int>(), 8);
  EXPECT_EQ(run["before"]["parameters"], run["after"]["parameters"]);
  EXPECT_EQ(run_json({"predict", "calm", "a fine film"}, folder.path())["logits"],
            run_json({"predict", model, "a fine film"}, folder.path())["logits"]);
  const Ending again = run_hone({"pass", "calm", "remove_dropout", "-o", "calmer"}, folder.path());
  EXPECT_EQ(again.code, 1);
  EXPECT_NE(again.messages.find("pass remove_dropout: there is nothing in calm that it changes"),
            std::string::npos)
      << again.messages;
  EXPECT_FALSE(fs::exists(folder.path() / "calmer"));
  // Texts keep their commas, and other programs have no word for a model without a layer.
  const std::string dense = "bert.encoder.layer.1.attention.output.dense";
  const Json less = run_json(
      {"pass", model, "replace_by_identity", "names=" + dense + ",bert.pooler.dense", "-o", "less"},
      folder.path());
  EXPECT_EQ(less["before"]["parameters"].get<int>() - less["after"]["parameters"].get<int>(),
            2 * (128 * 128 + 128));
  EXPECT_TRUE(fs::exists(folder.path() / "less/graph.hone"));
  EXPECT_EQ(run_json({"inspect", "less"}, folder.path())["command"], "inspect");
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
  expect_refusal("leaves no output 'loss', which a model's folder needs",
                 {"keep_outputs", "names=logits"});
  expect_refusal("cannot stand in its place", {"replace_by_identity", "names=classifier"});
}

}  // namespace
}  // namespace hone::testing
