#include <gtest/gtest.h>
#include <sys/mount.h>

#include <algorithm>
#include <csignal>
#include <regex>

#include "tests/cli/run_hone.h"
#include "tests/support/expect.h"
#include "tests/support/sanitized.h"

// Tests of pipelines: files, folders, the store, kills and mistakes.
namespace hone::testing {
namespace {

constexpr const char* kChain = R"toml(
title = "A chain"
[settings]
model = "small.json"
data = "synth:lookup?n=300&test=60"
steps = 12
[common]
data = "{data}"
batch_size = 4
[stage.full]
run = "train"
MODEL = "{model}"
max_steps = "{steps}"
save_steps = 2
[stage.adapter]
run = "train"
MODEL = "{full}"
lora = "r=2"
max_steps = "{steps}"
save_steps = 2
[stage.merged]
run = "lora merge"
MODEL = "{full}"
adapter = "{adapter}"
[stage.rounded]
each = { bits = [4, 8] }
run = "quantize"
MODEL = "{merged}"
format = "int(bits={bits})"
[stage.trained]
each = { bits = [4, 8] }
run = "quantize"
MODEL = "{merged}"
format = "int(bits={bits})"
qat = true
max_steps = "{steps}"
save_steps = 2
[stage.best]
best_of = ["{rounded}", "{trained}"]
smallest = true
[stage.pruned]
run = "prune"
MODEL = "{best}"
sparsity = 0.5
[stage.packed]
run = "pack"
MODEL = "{pruned}"
[stage.graph]
run = "draw"
MODEL = "{packed}"
output = "graph.dot"
[stage.loss]
run = "compare"
A = "{full}"
B = "{packed}"
[figure.bits]
x = "bits"
y = "after.eval_accuracy"
[[figure.bits.curve]]
stages = "rounded"
[[figure.bits.curve]]
stages = "trained"
[[answer]]
says = "predictions that differ: {loss.comparison.flips}"
[claim.smaller]
says = "a smaller model is better"
source = "nobody"
stage = "loss"
)toml";

// A model with as many layers as bert-tiny and a sixteenth of their size.
constexpr const char* kSmallShape =
    R"json({"model_type": "bert", "hidden_size": 32, "num_hidden_layers": 2,
    "num_attention_heads": 2, "intermediate_size": 128})json";

// A single stage that takes a moment.
const std::string kSeen = "[stage.seen]\nrun = \"inspect\"\nMODEL = \"tiny\"\n";

struct PipelineTest : ::testing::Test {
  TemporaryFolder folder;
  PipelineTest() {
    ::setenv("XDG_CACHE_HOME", (folder.path() / "cache").c_str(), 1);
    folder.file("chain.toml", kChain);
    folder.file("small.json", kSmallShape);
  }

  Ending run(std::vector<std::string> words) const {
    words.insert(words.begin(), "run");
    return run_hone(words, folder.path());
  }
  Ending run_file(const std::string& text, std::vector<std::string> more = {}) const {
    folder.file("other.toml", text);
    more.insert(more.begin(), {"other.toml", "-o", "other"});
    return run(more);
  }
  Json results(const std::string& name) const {
    return read_json(folder.path() / name / "results.json");
  }
  Json stages(const std::string& name) const { return results(name)["stages"]; }
  std::map<std::string, std::string> states(const std::string& name) const {
    std::map<std::string, std::string> states;
    const Json all = stages(name);
    for (const Json& stage : all) states[stage["stage"]] = stage["state"];
    return states;
  }
  // Returns the contents of all weights and drawings, by path.
  std::map<std::string, std::string> made(const std::string& name) const {
    std::map<std::string, std::string> files;
    const fs::path root = folder.path() / name;
    for (const auto& entry : fs::recursive_directory_iterator(root)) {
      const std::string ending = entry.path().extension();
      if (ending == ".safetensors" || ending == ".dot" || ending == ".hone")
        files[fs::relative(entry.path(), root)] = read_file(entry.path());
    }
    return files;
  }
  // Returns the measured values, without times.
  std::map<std::string, Json> figures(const std::string& name) const {
    std::map<std::string, Json> figures;
    const Json all = stages(name);
    for (const Json& stage : all) {
      const Json& result = stage["result"];
      for (const char* key : {"comparison", "chosen", "zeros", "train_loss"})
        if (result.contains(key)) figures[stage["stage"].get<std::string>() + key] = result[key];
      figures[stage["stage"]] = stage["key"];
    }
    return figures;
  }
};

const std::vector<std::string> kStages = {"full",      "adapter",   "merged",    "rounded/4",
                                          "rounded/8", "trained/4", "trained/8", "best",
                                          "pruned",    "packed",    "graph",     "loss"};

// The estimate may be off by a tenth (docs/guides/pipelines.md), plus the pages of the program itself, which no stage
// can predict.
void expect_predicted(const Json& stage) {
  constexpr double kPagesOfTheProgram = 2 << 20;
  if (kSanitized) return;  // sanitizers use memory of their own
  const double predicted = stage["predicted_bytes"], peak = stage["peak_bytes"];
  EXPECT_NEAR(predicted, peak, 0.1 * peak + kPagesOfTheProgram) << stage["stage"];
}

TEST_F(PipelineTest, ChainsStagesIntoOneFolder) {
  const Ending ending = run({"chain.toml", "-o", "out"});
  ASSERT_EQ(ending.code, 0) << ending.messages;
  EXPECT_NE(ending.output.find("12 computed"), std::string::npos) << ending.output;
  std::vector<std::string> names;
  const Json all = stages("out");
  for (const Json& stage : all) names.push_back(stage["stage"]);
  EXPECT_EQ(names, kStages);
  for (const std::string& name : kStages) {
    EXPECT_TRUE(fs::exists(folder.path() / "out" / name / "record.json")) << name;
    EXPECT_TRUE(fs::exists(folder.path() / "out" / name / "results.json")) << name;
  }
  EXPECT_TRUE(fs::exists(folder.path() / "out/graph/graph.dot"));
  EXPECT_TRUE(fs::exists(folder.path() / "out/figures/bits.svg"));
  EXPECT_NE(read_file(folder.path() / "out/report.md").find("](figures/bits.svg)"),
            std::string::npos);
  EXPECT_EQ(read_file(folder.path() / "out/pipeline.toml"), kChain);
  EXPECT_NE(read_file(folder.path() / "out/results.csv").find("\nbest: rounded/8,"),
            std::string::npos);
  EXPECT_FALSE(fs::exists(folder.path() / "out/stages"));
  EXPECT_FALSE(fs::exists(folder.path() / "out.partial"));
  expect_all_recorded(folder.path() / "out");
  // Each stage gives the result of its command.
  EXPECT_EQ(all[0]["command_line"],
            fmt::format("hone train {} --data 'synth:lookup?n=300&test=60' --max_steps 12 "
                        "--batch_size 4 --save_steps 2 --output_dir full",
                        (folder.path() / "small.json").string()));
  const Json measured =
      run_json({"eval", "out/packed", "--data", "synth:lookup?n=300&test=60"}, folder.path());
  EXPECT_EQ(measured["eval_accuracy"], all[11]["result"]["b"]["eval_accuracy"]);
  // A summary in the pipeline replaces the generated one.
  EXPECT_EQ(results("out")["summary"],
            fmt::format("Predictions that differ: {}.",
                        all[11]["result"]["comparison"]["flips"].get<int>()));
  // The next stage uses the chosen model.
  const Json& best = all[7];
  EXPECT_EQ(all[8]["result"]["model"], best["result"]["chosen"]);
  EXPECT_EQ(best["stands_for"], best["result"]["chosen"]);
  for (const Json& stage : all) {
    EXPECT_GT(stage["peak_bytes"], 1 << 20) << stage["stage"];
    EXPECT_EQ(stage.at("failure"), nullptr) << stage["stage"];
    expect_predicted(stage);
  }
}

TEST_F(PipelineTest, LongStagesPredictWhatTheyHold) {
  // Weights as large as the program, so that a second copy in memory is noticed.
  folder.file("large.json",
              R"json({"model_type": "bert", "hidden_size": 384, "num_hidden_layers": 2,
    "num_attention_heads": 6, "intermediate_size": 1536, "vocab_size": 1000})json");
  const Ending ending = run_file(R"toml(
[settings]
data = "synth:lookup?n=80&test=60"
[common]
data = "{data}"
batch_size = 4
max_seq_length = 32
[stage.full]
run = "train"
MODEL = "large.json"
max_steps = 1
[stage.adapter]
run = "train"
MODEL = "{full}"
lora = "r=2"
max_steps = 1
[stage.merged]
run = "lora merge"
MODEL = "{full}"
adapter = "{adapter}"
[stage.rounded]
run = "quantize"
MODEL = "{merged}"
format = "int(bits=8)"
[stage.packed]
run = "pack"
MODEL = "{rounded}"
[stage.unpacked]
run = "unpack"
MODEL = "{packed}"
[stage.measured]
run = "eval"
MODEL = "{packed}"
[stage.fused]
run = "pass"
MODEL = "{full}"
PASS = "fuse_attention"
[stage.pruned]
run = "prune"
MODEL = "{full}"
sparsity = 0.5
[stage.tokens]
run = "tokenize"
MODEL = "{full}"
[stage.compared]
run = "compare-formats"
MODEL = "{full}"
candidate = "int(bits=8)"
)toml");
  ASSERT_EQ(ending.code, 0) << ending.messages;
  const Json all = stages("other");
  for (const Json& stage : all) expect_predicted(stage);
}

TEST_F(PipelineTest, DoesNothingTwice) {
  ASSERT_EQ(run({"chain.toml", "-o", "out"}).code, 0);
  const Ending again = run({"chain.toml", "-o", "again"});
  // Models trained for twelve steps have learned nothing. Results from the store repeat the warning.
  EXPECT_NE(again.messages.find(
                "full, adapter: test: the accuracy does not show that the model has learned"),
            std::string::npos)
      << again.messages;
  EXPECT_NE(read_page(folder.path() / "again/report.html").find("Warnings of stages"),
            std::string::npos);
  ASSERT_EQ(again.code, 0) << again.messages;
  EXPECT_EQ(again.messages.find("1 of 12"), std::string::npos) << again.messages;
  EXPECT_EQ(made("again"), made("out"));
  for (const auto& [stage, state] : states("again")) EXPECT_EQ(state, "from the store") << stage;
  // Also in the same folder.
  const Ending finished = run({"chain.toml", "-o", "out", "--resume"});
  EXPECT_EQ(finished.code, 0) << finished.messages;
  EXPECT_NE(finished.output.find("finished already"), std::string::npos) << finished.output;
  // Only the changed stage and those that depend on it run again.
  const Ending other = run({"chain.toml", "--set", "steps=13", "-o", "out", "--resume"});
  EXPECT_EQ(other.code, 1);
  EXPECT_NE(
      other.messages.find("contains a finished pipeline with other stages, settings or inputs"),
      std::string::npos)
      << other.messages;
  std::string text = kChain;
  text.replace(text.find("sparsity = 0.5"), 14, "sparsity = 0.4");
  ASSERT_EQ(run_file(text).code, 0);
  const auto now = states("other");
  for (const std::string& name : kStages) {
    const bool anew = name == "pruned" || name == "packed" || name == "graph" || name == "loss";
    EXPECT_EQ(now.at(name), anew ? "computed" : "from the store") << name;
  }
  // --no_cache uses nothing from the store.
  ASSERT_EQ(run({"chain.toml", "-o", "alone", "--no_cache"}).code, 0);
  for (const auto& [stage, state] : states("alone")) EXPECT_EQ(state, "computed") << stage;
  EXPECT_EQ(made("alone"), made("out"));
  EXPECT_EQ(figures("alone"), figures("out"));
}

TEST_F(PipelineTest, AnInputThatChangesIsReadAgain) {
  fs::copy(workshop() / "model", folder.path() / "model", fs::copy_options::recursive);
  fs::copy(workshop() / "reviews.csv", folder.path() / "reviews.csv");
  const std::string text = R"toml(
[stage.read]
run = "eval"
MODEL = "model"
data = "reviews.csv"
split = "all"
[stage.seen]
run = "inspect"
MODEL = "model"
)toml";
  ASSERT_EQ(run_file(text).code, 0);
  folder.file("reviews.csv", read_file(folder.path() / "reviews.csv") + "one more,good\n");
  ASSERT_EQ(run_file(text, {"--overwrite"}).code, 0);
  EXPECT_EQ(states("other").at("read"), "computed");
  EXPECT_EQ(states("other").at("seen"), "from the store");
  EXPECT_EQ(results("other")["stages"][0]["result"]["n"], kReviews + 1);
}

TEST_F(PipelineTest, SaysHowManyStagesAreLeft) {
  const std::string draw = "[stage.a]\nrun = \"inspect\"\nMODEL = \"tiny\"\n";
  EXPECT_NE(run_file(draw).messages.find("1 stage\n"), std::string::npos);
  const Ending more =
      run_file(draw + "[stage.b]\nrun = \"inspect\"\nMODEL = \"base\"\n", {"--overwrite"});
  EXPECT_NE(more.messages.find("2 stages, 1 of them done in earlier runs\n"), std::string::npos)
      << more.messages;
}

TEST_F(PipelineTest, ASecondFigureZoomsInWhereCurvesCrowd) {
  const Ending ending = run_file(R"toml(
[stage.small]
each = { tokens = [1, 2, 3, 4, 512] }
run = "inspect"
MODEL = "tiny"
tokens = "{tokens}"
batch_size = 1
[stage.large]
each = { tokens = [1, 2, 3, 4, 512] }
run = "inspect"
MODEL = "tiny"
tokens = "{tokens}"
batch_size = 2
[figure.flops]
x = "tokens"
y = "flops"
[[figure.flops.curve]]
stages = "small"
[[figure.flops.curve]]
stages = "large"
)toml");
  ASSERT_EQ(ending.code, 0) << ending.messages;
  for (const char* file : {"flops.svg", "flops.png", "flops_zoom.svg", "flops_zoom.png"})
    EXPECT_TRUE(fs::exists(folder.path() / "other/figures" / file)) << file;
  EXPECT_NE(read_file(folder.path() / "other/report.html").find("where values lie close"),
            std::string::npos);
}

// Two samplers with two seeds each over the same points, each of which is computed once.
constexpr const char* kSearches = R"toml(
[common]
data = "synth:lookup?n=300&test=60"
[stage.full]
run = "train"
MODEL = "small.json"
max_steps = 4
logging_steps = 1
[stage.search]
each = { sampler = ["random", "grid"], draw = [1, 2] }
run = "search"
MODEL = "{full}"
sampler = "{sampler}"
sampler_seed = "{draw}"
trials = 4
space = """
maximize = "accuracy"
[[precision]]
choice = "together"
formats = ["none", "int(bits=[2,4,8])"]
"""
[stage.best]
best_of = ["{search}/best"]
[stage.measured]
run = "eval"
MODEL = "{best}"
[figure.samplers]
x = "trial"
y = ["value", "average_bits"]
[[figure.samplers.curve]]
label = "at random"
stages = "search/random-*"
[[figure.samplers.curve]]
stages = "search/grid-*"
[[figure.samplers.reference]]
label = "what was chosen"
stage = "measured"
y = "eval_accuracy"
[figure.loss]
x = "step"
y = "loss"
[[figure.loss.curve]]
stages = "full"
[table.near]
by = "sampler"
[[table.near.column]]
label = "Near"
stages = "search"
within = 0
[[table.near.column]]
label = "Best"
stages = "search"
y = "best.mean"
[table.chosen]
rows = "best.configuration.formats"
stages = "search/grid-1"
[[table.chosen.column]]
y = "weight"
[table.formats]
by = "sampler"
[[table.formats.column]]
label = "Linears"
stages = "search/grid-1"
y = "tally.best.configuration.formats.*.weight"
)toml";

TEST_F(PipelineTest, BeginsAgainOverWhatOneThatFailedHasLeft) {
  const std::string whole = kSearches;
  std::string broken = whole;
  broken.replace(broken.find("int(bits=[2,4,8])"), 17, "int(bits=[2,4,99])");
  const Ending failed = run_file(broken);
  EXPECT_EQ(failed.code, 1);
  EXPECT_NE(failed.messages.find("stage search/random-1: --space, line 4: formats: "),
            std::string::npos)
      << failed.messages;
  EXPECT_TRUE(fs::exists(folder.path() / "other.partial/full/record.json"));
  EXPECT_EQ(run_file(whole, {"--overwrite"}).code, 0);
  EXPECT_FALSE(fs::exists(folder.path() / "other.partial"));
}

TEST_F(PipelineTest, SearchesStandTogetherInOneStudyFile) {
  const Ending ending = run_file(kSearches);
  ASSERT_EQ(ending.code, 0) << ending.messages;
  const fs::path out = folder.path() / "other";
  int files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(out))
    files += entry.path().filename().string().starts_with("study.db") ? 1 : 0;
  EXPECT_EQ(files, 1) << "no log beside it, and none in the stages";
  const Json studies = run_json({"study", "other/study.db"}, folder.path())["studies"];
  ASSERT_EQ(studies.size(), 4U);
  EXPECT_EQ(studies[0]["study"], "search/random-1");
  EXPECT_EQ(studies[0]["trials"]["complete"], 4);
  // There are 4 points. All other trials come from the trial store.
  std::int64_t computed = 0;
  for (const Json& study : studies)
    computed += study["trials"]["complete"].get<std::int64_t>() -
                study["trials"]["cached"].get<std::int64_t>();
  EXPECT_EQ(computed, 4);
  const std::string figure = read_file(out / "figures/samplers.svg");
  EXPECT_NE(figure.find("at random<"), std::string::npos) << "the title says what all bands are";
  EXPECT_NE(figure.find("(mean of 2, lowest to highest)"), std::string::npos);
  EXPECT_NE(figure.find("what was chosen"), std::string::npos);
  EXPECT_EQ(read_file(out / "figures/loss.svg").find("(%)"), std::string::npos);
  EXPECT_EQ(results("other")["notes"], Json::array());
  const std::string near = read_file(out / "figures/near.csv");
  EXPECT_EQ(near.find("inf"), std::string::npos) << "all have tried all points: " << near;
  EXPECT_TRUE(near.starts_with("sampler,near,near_1,near_2,best,best_low,best_high,best_runs\r\n"))
      << near;
  const Json rows = results("other")["tables"]["near"];
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0]["near"].size(), 2U) << "a count for each search";
  EXPECT_EQ(rows[0]["best_runs"], 2);
  EXPECT_NE(read_file(out / "figures/chosen.csv").find("\nclassifier,"), std::string::npos);
  const std::string formats = read_file(out / "figures/formats.csv");
  EXPECT_TRUE(std::regex_search(formats, std::regex("^sampler,linears,linears_(none|int)")))
      << formats;
  EXPECT_NE(formats.find("\ngrid,14,14"), std::string::npos) << formats;
  // A repeated run has nothing to do, and an overwritten run is complete again.
  EXPECT_NE(run_file(kSearches, {"--resume"}).output.find("nothing left to do"), std::string::npos);
  ASSERT_EQ(run_file(kSearches, {"--overwrite"}).code, 0);
  EXPECT_EQ(run_json({"study", "other/study.db"}, folder.path())["studies"].size(), 4U);
}

TEST_F(PipelineTest, AStageMayBeALab) {
  const Ending ending = run_file("[stage.graphs]\nrun = \"lab 0.2\"\nmodel = \"tiny\"\n");
  ASSERT_EQ(ending.code, 0) << ending.messages;
  const Json stage = stages("other")[0];
  EXPECT_EQ(stage["result"]["lab"], "0.2");
  EXPECT_GT(stage["predicted_bytes"], 0);  // estimated from the lab's own stages
  EXPECT_TRUE(fs::exists(folder.path() / "other/graphs/difference/both.svg"));
}

TEST_F(PipelineTest, AStageMayPrintALineForEachTextOrTakeNoThreads) {
  fs::copy(workshop() / "model", folder.path() / "model", fs::copy_options::recursive);
  fs::copy(workshop() / "reviews.csv", folder.path() / "reviews.csv");
  const Ending ending = run_file(R"toml(
[stage.answers]
run = "predict"
MODEL = "model"
data = "reviews.csv"
split = "all"
[stage.file]
run = "predict"
MODEL = "model"
data = "reviews.csv"
split = "all"
output = "answers.jsonl"
[stage.converted]
run = "convert"
MODEL = "model"
)toml");
  ASSERT_EQ(ending.code, 0) << ending.messages;
  const Json all = stages("other");
  ASSERT_EQ(all[0]["result"].size(), kReviews);
  EXPECT_TRUE(all[0]["result"][0].contains("label"));
  EXPECT_TRUE(all[1]["result"].empty());
  EXPECT_EQ(json_lines(read_file(folder.path() / "other/file/answers.jsonl")).size(), kReviews);
  EXPECT_TRUE(fs::exists(folder.path() / "other/converted/model.safetensors"));
}

TEST_F(PipelineTest, AStageMayBeASubcommand) {
  const Ending ending = run_file(R"toml(
[stage.linear]
run = "bench linear"
shape = [2, 32, 16]
impl = "fp32"
runs = 1
)toml");
  ASSERT_EQ(ending.code, 0) << ending.messages;
  const Json stage = stages("other")[0];
  EXPECT_EQ(stage["result"]["outputs"], 16);
  EXPECT_EQ(stage["result"]["times"][0]["rows"], 2);
}

TEST_F(PipelineTest, WhatMeasuresTimeIsNotKept) {
  const std::string text =
      "[stage.time]\nrun = \"bench\"\nMODEL = \"tiny\"\nruns = 1\nbatch_size = 1\ntokens = 8\n";
  ASSERT_EQ(run_file(text).code, 0);
  ASSERT_EQ(run_file(text, {"--overwrite"}).code, 0);
  EXPECT_EQ(states("other").at("time"), "computed");
}

TEST_F(PipelineTest, AnInterruptedOneGoesOnAtItsStageAndStep) {
  // A model large enough for the training to be interrupted.
  const std::vector<std::string> chain = {"chain.toml", "--set", "model=tiny", "--no_cache", "-o"};
  const auto into = [&](const std::string& output, const std::vector<std::string>& more = {}) {
    std::vector<std::string> words = chain;
    words.push_back(output);
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  std::vector<std::string> first = into("out");
  first.insert(first.begin(), "run");
  const fs::path checkpoint = folder.path() / "out.partial/adapter.partial/checkpoint-2";
  const Ending ending =
      run_hone_until(first, folder.path(), SIGTERM, [&] { return fs::exists(checkpoint); });
  if (ending.code == 0) GTEST_SKIP() << "it was faster";
  ASSERT_EQ(ending.code, 143) << ending.messages;
  EXPECT_NE(ending.messages.find("To resume:\n  hone run chain.toml"), std::string::npos)
      << ending.messages;
  const Ending refused = run(into("out"));
  EXPECT_EQ(refused.code, 1);
  EXPECT_NE(refused.messages.find("an earlier run of `hone run` was interrupted"),
            std::string::npos);
  const Ending resumed = run(into("out", {"--resume"}));
  ASSERT_EQ(resumed.code, 0) << resumed.messages;
  EXPECT_EQ(states("out").at("full"), "done before");
  EXPECT_EQ(states("out").at("adapter"), "computed");
  const Json settings = read_json(folder.path() / "out/adapter/settings.json")["settings"];
  EXPECT_EQ(settings["resume"], true);
  ASSERT_EQ(run(into("whole")).code, 0);
  EXPECT_EQ(made("out"), made("whole"));
  EXPECT_EQ(figures("out"), figures("whole"));
}

TEST_F(PipelineTest, KilledAtAnyMomentItGoesOnToTheSameBits) {
  ASSERT_EQ(run({"chain.toml", "-o", "whole", "--no_cache"}).code, 0);
  expect_same_after_kills(
      6, folder.path(),
      [](const std::string& output) {
        return std::vector<std::string>{"run", "chain.toml", "--quiet", "-o", output};
      },
      [&](const std::string& name) {
        run_hone({"cache", "--empty"}, folder.path());
        return made(name) == made("whole") && figures(name) == figures("whole");
      });
}

TEST_F(PipelineTest, SaysWhereItIsWrongBeforeAnythingRuns) {
  const std::string train = "[stage.a]\nrun = \"train\"\nMODEL = \"tiny\"\n",
                    data = "data = \"synth:lookup?n=300&test=60\"\n";
  const std::pair<std::string, std::string> cases[] = {
      {"[stage.a]\nrun = \"trian\"",
       "line 1: stage a: hone has no command 'trian'; did you mean "
       "'train'?"},
      {"[stage.a]\nrun = \"lab 9\"",
       "line 1: stage a: NAME: expected 0.1, 0.2, 0.3, 1.1, 1.2, 2.1, 2.2, 3.1, 3.2, 3.3, 3.4, "
       "4.1, 4.2, 4.3, 4.4 or all, got '9'"},
      {"[stage.a]\nrun = \"man\"", "line 1: stage a: `hone man` cannot be a stage"},
      {train + data + "leraning_rate = 1e-3",
       "line 5: stage a: `hone train` has no option "
       "'leraning_rate'; `hone train --help` lists them; did you mean 'learning_rate'?"},
      {train + data + "learning_rate = -1", "line 5: stage a: --learning_rate: "},
      {train + data + "no_shuffle = 3", "line 5: stage a: no_shuffle: expected true or false"},
      {train + data + "max_steps = true", "line 5: stage a: max_steps: expected a value"},
      {train + data + "output_dir = \"x\"", "line 5: stage a: output_dir: the pipeline sets"},
      {"[stage.a]\nrun = \"convert\"\nMODEL = \"tiny\"\njson = true",
       "line 4: stage a: json: the pipeline sets"},
      {"[stage.a]\nrun = \"convert\"\nMODEL = \"tiny\"\nthreads = 2",
       "line 4: stage a: `hone convert` has no option 'threads'"},
      {train, "line 1: stage a: --data is required"},
      {train + "data = \"absent.csv\"", "line 4: stage a: data: data 'absent.csv': "},
      {"[stage.a]\nrun = \"pack\"\nMODEL = \"absent\"", "line 3: stage a: MODEL: "},
      {"[stage.a]\nrun = \"draw\"\nMODEL = \"tiny\"\noutput = \"../x.svg\"",
       "line 4: stage a: output: expected a name in the stage's folder"},
      {train + data + "[stage.b]\nbest_of = [\"{a}\", \"{c}\"]\n" + data +
           "gate = \"accuracy>=-1\"\n[stage.c]\nrun = \"train\"\nMODEL = \"tiny\"\n" + data,
       "line 8: stage b: --gate requires --smallest"},
      {"[stage.a]\nrun = \"compare\"\nA = \"tiny\"\nB = \"tiny\"\n" + data +
           "gate = \"f1_macroo>=-1\"",
       "line 6: stage a: --gate: "},
      {train + data + "[common]\nwidths = \"8.4\"",
       "line 6: common: no stage's command has an option 'widths'"},
  };
  for (const auto& [text, message] : cases) {
    SCOPED_TRACE(text);
    const Ending ending = run_file(text);
    EXPECT_EQ(ending.code, 1);
    EXPECT_NE(ending.messages.find("error: other.toml, " + message), std::string::npos)
        << ending.messages;
    EXPECT_EQ(std::ranges::count(ending.messages, '\n'), 1) << ending.messages;
    EXPECT_FALSE(fs::exists(folder.path() / "other"));
    EXPECT_FALSE(fs::exists(folder.path() / "other.partial"));
  }
  EXPECT_EQ(run_hone({"run", "chain.toml"}, folder.path()).code, 2);
  EXPECT_EQ(run({"chain.toml", "--set", "steps", "-o", "x"}).code, 2);
}

TEST_F(PipelineTest, AStageThatFailsSaysSoOnceAndWhatWasDoneStays) {
  folder.file("empty.csv", "text,label\nfine,good\n");
  const std::string text = R"toml(
[stage.full]
run = "train"
MODEL = "tiny"
data = "synth:lookup?n=300&test=60"
max_steps = 1
[stage.broken]
run = "eval"
MODEL = "{full}"
data = "empty.csv"
)toml";
  const Ending ending = run_file(text, {"--quiet"});
  EXPECT_EQ(ending.code, 1);
  const std::size_t at = ending.messages.find("error: other.toml, line 7: stage broken: ");
  ASSERT_NE(at, std::string::npos) << ending.messages;
  EXPECT_EQ(ending.messages.find("error: ", at + 1), std::string::npos) << ending.messages;
  EXPECT_NE(ending.messages.find("continue with --resume"), std::string::npos) << ending.messages;
  EXPECT_TRUE(fs::exists(folder.path() / "other.partial/full/model.safetensors"));
  std::string mended = text;
  mended.replace(mended.find("empty.csv"), 9, "synth:lookup?n=300&test=60");
  const Ending resumed = run_file(mended, {"--resume"});
  ASSERT_EQ(resumed.code, 0) << resumed.messages;
  EXPECT_EQ(states("other").at("full"), "done before");
}

TEST_F(PipelineTest, AStageMayHaveToFail) {
  const std::string text = R"toml(
[stage.refused]
run = "quantize"
MODEL = "tiny"
data = "synth:lookup?n=300&test=60"
format = "integer(width=8,frac=4)"
split = "validation"
validation_split = 0
fails = "FAILS"
)toml";
  const auto with = [&](const std::string& message) {
    std::string whole = text;
    return whole.replace(whole.find("FAILS"), 5, message);
  };
  const Ending other = run_file(with("too heavy"));
  EXPECT_EQ(other.code, 1);
  EXPECT_NE(other.messages.find("was expected to fail with 'too heavy', but failed with: "),
            std::string::npos)
      << other.messages;
  const Ending right = run_file(with("validation"), {"--overwrite"});
  ASSERT_EQ(right.code, 0) << right.messages;
  EXPECT_NE(results("other")["stages"][0]["failure"].get<std::string>().find("validation"),
            std::string::npos);
  std::string fine = with("validation");
  fine.erase(fine.find("split = \"validation\"\n"), 21);
  const Ending did = run_file(fine, {"--overwrite"});
  EXPECT_EQ(did.code, 1);
  EXPECT_NE(did.messages.find("was expected to fail with 'validation', but succeeded"),
            std::string::npos)
      << did.messages;
}

TEST_F(PipelineTest, AGateThatDoesNotPassEndsItWithCode3) {
  const std::string text = R"toml(
[stage.full]
run = "train"
MODEL = "tiny"
data = "synth:lookup?n=300&test=60"
max_steps = 1
[stage.gate]
run = "compare"
A = "{full}"
B = "{full}"
data = "synth:lookup?n=300&test=60"
max_drop = 0
)toml";
  const Ending ending = run_file(text);
  ASSERT_EQ(ending.code, 3) << ending.messages;
  EXPECT_EQ(results("other")["stages"][1]["exit_code"], 3);
  EXPECT_EQ(results("other")["failed_gates"], Json({"gate"}));
  EXPECT_NE(ending.output.find("Gates not passed gate"), std::string::npos) << ending.output;
  EXPECT_NE(ending.messages.find("gate: accuracy>="), std::string::npos) << ending.messages;
}

TEST_F(PipelineTest, WhatOthersPutIntoItsFolderStays) {
  ASSERT_EQ(run_file(kSeen).code, 0);
  folder.file("other/notes.txt", "mine");
  folder.file("other/seen/notes.txt", "mine");
  ASSERT_EQ(run_file(kSeen, {"--overwrite"}).code, 0);
  EXPECT_EQ(read_file(folder.path() / "other/notes.txt"), "mine");
  EXPECT_EQ(read_file(folder.path() / "other/seen/notes.txt"), "mine");
}

TEST_F(PipelineTest, ADamagedEntryOfTheStoreIsComputedAgain) {
  ASSERT_EQ(run_file(kSeen).code, 0);
  const Json entries = run_json({"cache"}, folder.path())["entries"];
  ASSERT_EQ(entries.size(), 1U);
  EXPECT_EQ(entries[0]["stage"], "seen");
  const fs::path file = folder.path() / "cache/hone/stages" / entries[0]["key"].get<std::string>() /
                        "files/results.json";
  folder.file(fs::relative(file, folder.path()).string(), "{}");
  ASSERT_EQ(run_file(kSeen, {"--overwrite"}).code, 0);
  EXPECT_EQ(states("other").at("seen"), "computed");
  ASSERT_EQ(run_file(kSeen, {"--overwrite"}).code, 0);
  EXPECT_EQ(states("other").at("seen"), "from the store");
}

TEST_F(PipelineTest, TheStoreIsShownLimitedAndEmptied) {
  ASSERT_EQ(run_file(kSeen).code, 0);
  folder.file("cache/hone/stages/mine.txt", "mine");
  const Ending shown = run_hone({"cache"}, folder.path());
  EXPECT_NE(shown.output.find("1 stages"), std::string::npos) << shown.output;
  EXPECT_NE(shown.output.find("of at most 10 GiB"), std::string::npos) << shown.output;
  EXPECT_NE(shown.output.find("hone inspect tiny"), std::string::npos) << shown.output;
  EXPECT_EQ(run_json({"cache", "--limit", "1kB"}, folder.path())["removed_entries"], 1);
  ASSERT_EQ(run_file(kSeen, {"--overwrite"}).code, 0);
  EXPECT_EQ(run_json({"cache"}, folder.path())["entries"].size(), 0U);
  run_json({"cache", "--limit", "1GiB"}, folder.path());
  ASSERT_EQ(run_file(kSeen, {"--overwrite"}).code, 0);
  const Json emptied = run_json({"cache", "--empty"}, folder.path());
  EXPECT_EQ(emptied["removed_entries"], 1);
  EXPECT_EQ(emptied["limit_bytes"], 1 << 30);
  EXPECT_EQ(read_file(folder.path() / "cache/hone/stages/mine.txt"), "mine");
  for (const char* wrong : {"much", "-1GB", "1XB", ""})
    EXPECT_EQ(run_hone({"cache", "--limit", wrong}, folder.path()).code, *wrong == '\0' ? 0 : 2)
        << wrong;
  EXPECT_EQ(run_hone({"cache", "--empty", "--shrink", "1GB"}, folder.path()).code, 2);
}

TEST_F(PipelineTest, AFullDiskEndsItAndItGoesOn) {
  const TemporaryFolder disk;
  if (::mount("tmpfs", disk.path().c_str(), "tmpfs", 0, "size=12M") != 0)
    GTEST_SKIP() << "no right to mount a small disk";
  const std::string output = (disk.path() / "out").string();
  const Ending full = run({"chain.toml", "--set", "model=tiny", "-o", output});
  EXPECT_EQ(full.code, 1);
  EXPECT_NE(full.messages.find("No space left on device"), std::string::npos) << full.messages;
  ::mount("tmpfs", disk.path().c_str(), "tmpfs", MS_REMOUNT, "size=400M");
  const Ending resumed = run({"chain.toml", "--set", "model=tiny", "-o", output, "--resume"});
  EXPECT_EQ(resumed.code, 0) << resumed.messages;
  ::umount2(disk.path().c_str(), MNT_DETACH);
}

TEST_F(PipelineTest, AStoreThatCannotBeWrittenIsAWarning) {
  folder.file("cache/hone/stages", "in the way");
  const Ending ending = run_file(kSeen);
  EXPECT_EQ(ending.code, 0);
  EXPECT_NE(ending.messages.find("stage seen is not cached: "), std::string::npos)
      << ending.messages;
}

TEST_F(PipelineTest, SeveralMayUseTheStoreAtOnce) {
  std::vector<pid_t> processes;
  for (int i = 0; i < 3; ++i)
    processes.push_back(start_hone({"run", "chain.toml", "--quiet", "-o", fmt::format("out-{}", i)},
                                   folder.path(), {}));
  for (const pid_t process : processes) EXPECT_EQ(wait_for(process), 0);
  EXPECT_EQ(made("out-0"), made("out-1"));
  EXPECT_EQ(made("out-0"), made("out-2"));
}

}  // namespace
}  // namespace hone::testing
