#include <fmt/format.h>
#include <gtest/gtest.h>

#include <csignal>
#include <regex>

#include "hone/search/storage/storage.h"
#include "tests/cli/run_hone.h"
#include "tests/support/expect.h"

// Tests of the labs that are pipelines.
namespace hone::testing {
namespace {

struct PipelineLab : ::testing::Test {
  TemporaryFolder folder;
  PipelineLab() {
    ::setenv("XDG_CACHE_HOME", (folder.path() / "cache").c_str(), 1);
    folder.file("small.json",
                R"({"model_type": "bert", "hidden_size": 32, "num_hidden_layers": 2,
                    "num_attention_heads": 2, "intermediate_size": 128})");
  }

  Json results(const std::string& name) const {
    return read_json(folder.path() / name / "results.json");
  }
  Json stage(const std::string& lab, const std::string& name) const {
    const Json all = results(lab)["stages"];
    for (const Json& one : all)
      if (one["stage"] == name) return one;
    throw InternalError("no stage " + name);
  }
};

// Settings that make a lab take seconds.
const std::vector<std::string> kSmall = {
    "--set", "shape=small.json",       "--set", "data=synth:tail?n=400&test=60",
    "--set", "pretraining_epochs=0.5", "--set", "texts=50"};

std::vector<std::string> small_lab(const std::string& name, const std::string& output,
                                   const std::vector<std::string>& more = {}) {
  std::vector<std::string> words = {"lab", name, "--quiet", "-o", output};
  words.insert(words.end(), kSmall.begin(), kSmall.end());
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

const std::vector<std::string> kTwoWidths = {
    "--set", "widths=[{ width = 8, fraction = 4 }, { width = 16, fraction = 8 }]"};

TEST_F(PipelineLab, AreListedBesideTheOthers) {
  const Json listed = run_json({"lab"}, folder.path())["labs"];
  std::vector<std::string> names;
  for (const Json& lab : listed) names.push_back(lab["lab"]);
  EXPECT_EQ(names,
            (std::vector<std::string>{"0.1", "0.2", "0.3", "1.1", "1.2", "2.1", "2.2", "3.1", "3.2",
                                      "3.3", "3.4", "4.1", "4.2", "4.3", "4.4", "all"}));
  const Ending ending = run_hone({"lab", "1.3", "-o", "x"}, folder.path());
  EXPECT_EQ(ending.code, 2);
  EXPECT_NE(ending.messages.find("4.4 or all, got '1.3'"), std::string::npos) << ending.messages;
}

// Lab 4.1 starts fresh processes and takes more than a minute.
TEST(SpeedLab, LongHoldsExecutorsBesideEachOther) {
  const TemporaryFolder folder;
  const std::string out = folder.path() / "lab";
  const Json result =
      run_json({"lab", "4.1", "--model", "model", "-o", out, "--quiet"}, workshop());
  // The executors for two sizes of inference and a training step, one GPU executor that was not run, and the other
  // device.
  ASSERT_EQ(result["overview"].size(), 3u * 4 + 1);
  EXPECT_EQ(result["overview"][2]["why_not"].is_null(), generates_code());
  EXPECT_TRUE(result["overview"][0]["speedup"].is_null());
  EXPECT_TRUE(result["overview"][1]["speedup_interval"].is_array());
  EXPECT_TRUE(result["overview"][1]["ratio_100"].is_number());
  EXPECT_TRUE(result["overview"][12]["why_not"].get<std::string>().starts_with("not run: "));
  EXPECT_TRUE(result["summary"].get<std::string>().ends_with("."));
  ASSERT_EQ(result["works"].size(), 3u);
  EXPECT_EQ(result["works"][0]["executors"][0]["fresh"].size(), 3u);
  EXPECT_GT(result["works"][0]["executors"][0]["graph"].size(), 3u);
  EXPECT_EQ(result["naive"][0]["mistakes"].size(), 7u);
  EXPECT_FALSE(result["why"].empty());
  for (const char* file :
       {"report.html", "overview.csv", "executors.csv", "means.csv", "comparisons.csv",
        "operations.csv", "mistakes.csv", "calls_model-training-8.png"})
    EXPECT_TRUE(path_exists(out + "/" + file)) << file;
  expect_all_recorded(out);
  const Ending again =
      run_hone({"lab", "4.1", "--model", "model", "-o", out, "--quiet", "--resume"}, workshop());
  EXPECT_EQ(again.code, 0) << again.messages;
}

// The pipeline of all labs, reduced to two.
TEST_F(PipelineLab, AnswerTheirQuestionsOnAFrontPage) {
  std::string text = run_well({"lab", "all", "--show"}, folder.path()).output;
  const std::size_t begin = text.find("name = [") + 8;
  text.replace(begin, text.find(']', begin) - begin, "\"0.1\", \"4.4\"");
  folder.file("two.toml", text);
  run_well({"run", "two.toml", "-o", "two", "--quiet"}, folder.path());
  const std::string page = read_file(folder.path() / "two/report.html");
  for (const char* told :
       {"<a href=\"lab/0.1/report.html\">Lab 0.1: ", "<a href=\"lab/4.4/report.html\">Lab 4.4: ",
        "</h3><p class=\"question\">"})
    EXPECT_NE(page.find(told), std::string::npos) << told;
  for (const char* lab : {"0.1", "4.4"}) {
    const Json result = read_json(folder.path() / "two/lab" / lab / "results.json");
    EXPECT_FALSE(result["question"].get<std::string>().empty()) << lab;
    EXPECT_FALSE(result["why"].empty()) << lab;
    EXPECT_TRUE(path_exists(folder.path() / "two/lab" / lab / "report.html"));
  }
}

// Each lab gets those of the options for all labs that it supports.
TEST_F(PipelineLab, AllGetTheOptionsThatTheyTake) {
  const fs::path second = folder.path() / "x.partial/stages/lab.0.2.json";
  const Ending ending =
      run_hone_until({"lab", "all", "--data", "synth:tail?n=400&test=60", "--max_seq_length", "16",
                      "--device", "cpu", "--seed", "7", "-o", "x"},
                     folder.path(), SIGINT, [&] { return path_exists(second); });
  const auto told = [&](const std::string& text) {
    return ending.messages.find(text) != std::string::npos;
  };
  for (const char* lab : {"0.1", "0.2"})
    EXPECT_TRUE(
        told(fmt::format("hone lab {} --fidelity quick --data 'synth:tail?n=400&test=60' "
                         "--max_seq_length 16 -o lab/{} --seed 7 --device cpu",
                         lab, lab)))
        << ending.messages;
}

TEST_F(PipelineLab, HandOnWhatTheyTrainedSoThatAllWantTheStore) {
  const Ending ending = run_hone({"lab", "all", "--no_cache", "-o", "x"}, folder.path());
  EXPECT_EQ(ending.code, 2);
  EXPECT_NE(ending.messages.find("--no_cache: labs hand on to each other"), std::string::npos)
      << ending.messages;
}

TEST_F(PipelineLab, HelpListsTheQuestionAndTheSettingsOfTheLab) {
  const std::string help = run_well({"lab", "1.2", "--help"}, folder.path()).output;
  const std::string shown = run_well({"lab", "1.2", "--show"}, folder.path()).output;
  const std::size_t settings = shown.find("[settings]");
  const std::string listed = shown.substr(settings, shown.find("[common]") - settings - 1);
  for (const std::string& text :
       {std::string("question = "), std::string("docs/labs/1.2.md"), listed})
    EXPECT_NE(help.find(text), std::string::npos) << text;
  EXPECT_EQ(help.find("[stage."), std::string::npos);
  const std::string coded = run_well({"lab", "4.1", "--help"}, folder.path()).output;
  EXPECT_NE(coded.find("Question: "), std::string::npos) << coded;
  const std::string general = run_well({"lab", "--help"}, folder.path()).output;
  EXPECT_EQ(general.find("docs/labs"), std::string::npos) << general;
}

// Running the printed pipeline gives the same stages as the lab.
TEST_F(PipelineLab, WhatIsShownIsWhatRuns) {
  run_well({"lab", "0.1", "-o", "lab", "--quiet"}, folder.path());
  folder.file("shown.toml", run_well({"lab", "0.1", "--show"}, folder.path()).output);
  run_well({"run", "shown.toml", "-o", "run", "--quiet"}, folder.path());
  const Json lab = results("lab"), run = results("run");
  ASSERT_EQ(lab["stages"].size(), run["stages"].size());
  for (std::size_t i = 0; i < lab["stages"].size(); ++i)
    EXPECT_EQ(lab["stages"][i]["key"], run["stages"][i]["key"]);
  EXPECT_EQ(lab["lab"], "0.1");
  EXPECT_EQ(lab["fidelity"], "quick");
}

TEST_F(PipelineLab, CountsErasesAndRefuses) {
  run_well({"lab", "0.1", "-o", "lab", "--quiet"}, folder.path());
  EXPECT_EQ(stage("lab", "before_the_pass")["result"]["found"]["operations"], 8);
  EXPECT_EQ(stage("lab", "after_the_pass")["result"]["found"]["operations"], 0);
  for (const char* name : {"last_dropout", "dropout_of_the_embeddings"}) {
    const std::string refusal = stage("lab", name)["failure"];
    EXPECT_NE(refusal.find("it is used by %"), std::string::npos) << refusal;
    EXPECT_NE(results("lab")["tables"]["refused"].dump().find(refusal), std::string::npos);
  }
  for (const Json document = results("lab"); const Json& claim : document["claims"])
    EXPECT_EQ(claim["conclusion"], "reproduced");
  EXPECT_NE(read_file(folder.path() / "lab/report.html").find("<svg"), std::string::npos);
  EXPECT_NE(read_file(folder.path() / "lab/figures/dropouts.csv").find("before the pass,8"),
            std::string::npos);
}

// An estimate is printed only if there is something to wait for.
TEST_F(PipelineLab, SaysWhatItWillTakeBeforeItBegins) {
  const std::string first = run_well({"lab", "0.1", "-o", "lab"}, folder.path()).messages;
  // The estimate itself depends on the machine.
  EXPECT_TRUE(std::regex_search(
      first,
      std::regex(
          "12 stages; about [0-9]+:[0-9]{2}[^]*1 of 12: trained_model; about [0-9]+:[0-9]{2}")))
      << first;
  EXPECT_NE(first.find("of memory in addition to the data ("), std::string::npos) << first;
  const std::string second = run_well({"lab", "0.1", "-o", "again"}, folder.path()).messages;
  EXPECT_EQ(second.find("stages; about"), std::string::npos) << second;
}

TEST_F(PipelineLab, DrawsFourGraphs) {
  run_well({"lab", "0.2", "-o", "lab", "--quiet"}, folder.path());
  const auto graph = [&](const char* name) {
    return read_file(folder.path() / "lab" / name / "graph.svg");
  };
  for (const char* file : {"all/graph.png", "no_labels/graph.png", "no_mask/graph.png",
                           "neither/graph.png", "difference/both.png"})
    EXPECT_TRUE(read_file(folder.path() / "lab" / file).starts_with("\x89PNG")) << file;
  EXPECT_NE(graph("all").find("cross_entropy"), std::string::npos);
  EXPECT_EQ(graph("no_labels").find("cross_entropy"), std::string::npos);
  // Graphs without a mask input generate one.
  EXPECT_EQ(graph("no_labels").find("attention_mask.full"), std::string::npos);
  EXPECT_NE(graph("neither").find("attention_mask.full"), std::string::npos);
  for (const Json document = results("lab"); const Json& claim : document["claims"])
    EXPECT_EQ(claim["conclusion"], "reproduced");
}

TEST_F(PipelineLab, TrainsWithFrozenEmbeddingsThenLowRankThenMerges) {
  run_well(small_lab("0.3", "lab"), folder.path());
  const Json merged = stage("lab", "merged")["result"];
  EXPECT_EQ(merged["comparison"]["flips"], 0);
  EXPECT_EQ(results("lab")["claims"].size(), 3U);
  const Json trainable = results("lab")["tables"]["trainable"];
  ASSERT_EQ(trainable.size(), 3U);
  EXPECT_EQ(trainable[0]["frozen"], 0);
  EXPECT_GT(trainable[1]["frozen"], 0);
  EXPECT_EQ(trainable[2]["trainable"], 7500) << "rank times inputs and outputs of 14 linear layers";
  EXPECT_EQ(results("lab")["tables"]["accuracy"].size(), 4U);
  // --model replaces the model that the lab would train.
  run_well(small_lab("0.3", "mine", {"--model", "lab/full"}), folder.path());
  EXPECT_THROW(stage("mine", "pretrained"), InternalError);
}

TEST_F(PipelineLab, LongChainsFromWidthsToSparsities) {
  std::vector<std::string> more = kTwoWidths;
  more.insert(more.end(), {"--set", "epoch_counts=[0.5, 1]"});
  run_well(small_lab("1.1", "widths", more), folder.path());
  const std::string chosen = stage("widths", "chosen")["stands_for"];
  EXPECT_TRUE(chosen == "qat/8-4" || chosen == "qat/16-8") << chosen;
  const std::string table = read_file(folder.path() / "widths/figures/widths.csv");
  EXPECT_TRUE(table.starts_with("width,ptq_test,ptq_test_low,ptq_test_high,ptq_test_n,")) << table;
  EXPECT_NE(table.find("\n8,"), std::string::npos) << table;
  const std::string figure = read_file(folder.path() / "widths/figures/widths.gp");
  EXPECT_NE(figure.find("set xtics ('8' 8, '16' 16)"), std::string::npos) << figure;
  EXPECT_NE(figure.find("'Accuracy, test (%)'"), std::string::npos)
      << "both curves are on one split";
  EXPECT_TRUE(fs::exists(folder.path() / "widths/figures/lengths.svg"));
  // QAT is compared with an fp32 model trained equally long, before and after rounding.
  EXPECT_EQ(stage("widths", "cost/8-4")["result"]["a"]["arithmetic"], "fp32");
  EXPECT_EQ(stage("widths", "through_quantizer/8-4")["result"]["a"]["arithmetic"], "simulated");
  EXPECT_FALSE(results("widths")["why"].empty());

  more = kTwoWidths;
  more.insert(more.end(), {"--set", "sparsities=[0.1, 0.8]"});
  run_well(small_lab("1.2", "sparse", more), folder.path());
  EXPECT_EQ(stage("sparse", "qat/8-4")["state"], "from the store");
  EXPECT_EQ(stage("sparse", "l1/0.8")["state"], "computed");
  for (const char* compared : {"against_random/0.8", "scopes/0.8"})
    EXPECT_EQ(stage("sparse", compared)["result"]["command"], "compare") << compared;
  EXPECT_EQ(stage("sparse", "times")["result"]["models"].size(), 2U);
  EXPECT_TRUE(fs::exists(folder.path() / "sparse/figures/sparsities.svg"));
}

// Settings that make a lab with searches take seconds.
std::vector<std::string> small_search(const std::string& name, const std::string& output,
                                      const std::vector<std::string>& more = {}) {
  std::vector<std::string> words = {"lab", name, "--quiet", "-o", output};
  for (const char* setting : {"data=synth:tail?n=400&test=60", "texts=50", "draws=[1]",
                              "shape_trials=2", "rates=1e-3", "trial_epochs=0.05",
                              R"(shapes=num_hidden_layers = [1, 2]
hidden_size = 16
num_attention_heads = 2
intermediate_size = 16
)"})
    words.insert(words.end(), {"--set", setting});
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

// Returns the studies in the only storage of a run, which must be closed.
std::vector<std::string> studies_in(const fs::path& run) {
  int files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(run))
    files += entry.path().filename().string().starts_with("study.db") ? 1 : 0;
  EXPECT_EQ(files, 1);
  std::vector<std::string> names;
  const auto storage = open_storage((run / "study.db").string(), /*must_exist=*/true);
  for (const Study& study : storage->studies()) names.push_back(study.name);
  storage->close();
  return names;
}

TEST_F(PipelineLab, SearchesShapesAndTrainsTheWinnerOn) {
  run_well(small_search("2.1", "shapes", {"--set", "further_epochs=0.5"}), folder.path());
  EXPECT_EQ(studies_in(folder.path() / "shapes"),
            (std::vector<std::string>{"search/grid-1", "search/random-1", "search/tpe-1"}));
  const std::string winner = stage("shapes", "winner")["stands_for"];
  EXPECT_TRUE(winner.ends_with("/best")) << winner;
  for (const char* file : {"samplers.svg", "samplers.png", "epochs.svg", "losses.svg"})
    EXPECT_TRUE(fs::exists(folder.path() / "shapes/figures" / file)) << file;
  const std::string table = read_file(folder.path() / "shapes/figures/samplers.csv");
  EXPECT_TRUE(
      table.starts_with("sampler,trials_until_within_0_005,"
                        "trials_until_within_0_005_1,best_validation,"))
      << table;
  EXPECT_NE(table.find("random,"), std::string::npos) << table;
  EXPECT_EQ(results("shapes")["notes"], Json::array());
  EXPECT_EQ(results("shapes")["claims"][0]["claim"], "tpe");
  EXPECT_NE(results("shapes")["summary"].get<std::string>().find("overfit"), std::string::npos);
}

TEST_F(PipelineLab, LongSearchesWithCompressionInsideAndCompressesTheWinnerAfterwards) {
  run_well(
      small_search("2.2", "aware", {"--set", "after_epochs=0.05", "--set", "best_sampler=random"}),
      folder.path());
  EXPECT_EQ(
      studies_in(folder.path() / "aware"),
      (std::vector<std::string>{"uncompressed/1", "uncompressed/2", "compressed/1", "compressed/2",
                                "compressed_then_trained/1", "compressed_then_trained/2",
                                "search/grid-1", "search/random-1", "search/tpe-1"}));
  // The compressed winner is drawn next to the results of the searches.
  EXPECT_NE(read_file(folder.path() / "aware/figures/searches.svg").find("compressed afterwards"),
            std::string::npos);
  EXPECT_EQ(results("aware")["notes"], Json::array());
  // The control is trained equally long but not compressed.
  EXPECT_EQ(stage("aware",
                  "compressed_then_trained_against_longer_training")["result"]["a"]["arithmetic"],
            "fp32");
  EXPECT_EQ(stage("aware",
                  "compressed_then_trained_against_longer_training")["result"]["b"]["arithmetic"],
            "simulated");
  EXPECT_EQ(results("aware")["claims"].size(), 5U);
}

// If lab 2.1 is part of the chain, the others use its best sampler.
TEST_F(PipelineLab, TakesTheSamplerThatWasFirstForTheLayers) {
  run_well(small_search("3.1", "chain", {"--set", "trials=2", "--set", "after_epochs=0.05"}),
           folder.path());
  const Json sampler = stage("chain", "ranking")["result"]["leader"]["sampler"];
  const Json taken = results("chain")["taken"];
  ASSERT_EQ(taken.size(), 1U);
  EXPECT_EQ(taken[0]["value"], sampler.is_null() ? Json("tpe") : sampler);
  EXPECT_EQ(taken[0]["stages"], Json({"integers"}));
  EXPECT_EQ(stage("chain", "integers")["result"]["sampler"], taken[0]["value"]);
  const std::string sentence = stage("chain", "ranking")["result"]["leader"]["summary"];
  const std::string page = read_page(folder.path() / "chain/report.html");
  EXPECT_NE(
      page.find(sampler.is_null() ? "the result of the stage ranking has no value <code>leader"
                                  : "in the result of the stage ranking"),
      std::string::npos);
  EXPECT_NE(page.find(sentence), std::string::npos) << "why it is that sampler";
}

TEST_F(PipelineLab, LongSearchesFormatsOfAModelThatIsGiven) {
  run_well(small_search("2.1", "shapes", {"--set", "further_epochs=0.5"}), folder.path());
  const std::vector<std::string> more = {"--model",           "shapes/further", "--set",
                                         "after_epochs=0.05", "--set",          "trials=2"};
  run_well(small_search("3.1", "integers", more), folder.path());
  EXPECT_EQ(studies_in(folder.path() / "integers"), (std::vector<std::string>{"integers"}));
  EXPECT_TRUE(fs::exists(folder.path() / "integers/figures/chosen.csv"));
  // The formats are compared with a model trained equally long in full precision.
  EXPECT_EQ(stage("integers", "against_full_precision")["result"]["a"]["arithmetic"], "fp32");
  EXPECT_FALSE(results("integers")["why"].empty());
  run_well(small_search("3.3", "mixed", more), folder.path());
  for (const char* shared : {"integers", "trained"})
    EXPECT_EQ(stage("mixed", shared)["state"], "from the store") << "as lab 3.1 has left it";
  EXPECT_EQ(studies_in(folder.path() / "mixed"),
            (std::vector<std::string>{"all_formats", "integers"}));
  run_well(small_search("3.4", "priced", more), folder.path());
  EXPECT_TRUE(fs::exists(folder.path() / "priced/figures/trials.svg"));
  std::vector<std::string> two = more;
  two.insert(two.end(),
             {"--set",
              "formats=[{ name = 'log', choices = 'log(width=[4,8])', usual = "
              "'log(width=8)' }, { name = 'binary', choices = 'binary(scale=[row,none])', "
              "usual = 'binary' }]"});
  run_well(small_search("3.2", "formats", two), folder.path());
  EXPECT_EQ(studies_in(folder.path() / "formats"),
            (std::vector<std::string>{"all/log", "all/binary", "some/log", "some/binary"}));
  const std::string trials = read_file(folder.path() / "formats/figures/trials.csv");
  EXPECT_NE(trials.find("log(width="), std::string::npos) << "their parameters: " << trials;
  // Models that use the format in every linear, and the explanations of their accuracy.
  const Json linears = stage("formats", "all/log")["result"]["best"]["configuration"]["formats"];
  EXPECT_EQ(linears.size() % 6, 2U) << "6 in a layer, and those of pooler and classifier";
  const std::string operands = read_file(folder.path() / "formats/figures/operands.csv");
  EXPECT_NE(operands.find("all/binary,classifier,weight,binary"), std::string::npos) << operands;
  EXPECT_EQ(stage("formats", "gain/log")["result"]["b"]["arithmetic"], "simulated");
  const Json verdicts = stage("formats", "all/binary")["result"]["verdicts"];
  for (const Json& operand : verdicts["operands"])
    EXPECT_EQ(operand["zero_code"], false) << "a sign has none";
}

TEST_F(PipelineLab, RefusesWhatItHasNot) {
  const auto refuse = [&](const std::string& fragment, const std::vector<std::string>& words) {
    const Ending ending = run_hone(words, folder.path());
    EXPECT_NE(ending.code, 0);
    EXPECT_NE(ending.messages.find(fragment), std::string::npos) << ending.messages;
    EXPECT_FALSE(fs::exists(folder.path() / "x"));
  };
  refuse("-o FOLDER is missing", {"lab", "0.1"});
  refuse("lab 1.1: has no setting 'width'; its settings are",
         {"lab", "1.1", "-o", "x", "--set", "width=4"});
  refuse("hone lab 4.3: --show is for labs that are pipelines", {"lab", "4.3", "--show"});
}

TEST_F(PipelineLab, LongKilledAtTwentyMomentsItFindsTheSame) {
  std::vector<std::string> more = kTwoWidths;
  more.insert(more.end(), {"--set", "sparsities=[0.1, 0.8]"});
  run_well(small_lab("1.2", "whole", more), folder.path());
  const auto found = [&](const std::string& name) {
    std::map<std::string, Json> figures;
    const Json all = results(name)["stages"];
    for (const Json& one : all) {
      figures[one["stage"].get<std::string>() + " key"] = one["key"];
      if (const Json comparison = one["result"].value("comparison", Json()); !comparison.is_null())
        figures[one["stage"]] = comparison;
    }
    return figures;
  };
  run_hone({"cache", "--empty"}, folder.path());
  expect_same_after_kills(
      20, folder.path(), [&](const std::string& output) { return small_lab("1.2", output, more); },
      [&](const std::string& name) {
        run_hone({"cache", "--empty"}, folder.path());
        return found(name) == found("whole");
      });
}

// Checks that the results of labs with searches do not depend on where they were killed.
struct KilledSearchLab : PipelineLab {
  // Returns the results of stages, without values that depend on timing or kills.
  std::map<std::string, Json> found(const std::string& name) const {
    std::map<std::string, Json> figures;
    const Json all = results(name)["stages"];
    for (const Json& one : all) {
      const auto stage = one["stage"].get<std::string>();
      figures[stage + " key"] = one["key"];
      for (const char* key : {"best", "after", "comparison"}) {
        if (!one["result"].contains(key)) continue;
        Json& figure = figures[stage + " " + key] = one["result"][key];
        // A killed trial is run again under a new number.
        for (const char* clocked : {"eval_runtime", "eval_samples_per_second", "number"})
          if (figure.contains(clocked)) figure.erase(clocked);
      }
    }
    figures["studies"] = studies_in(folder.path() / name);
    for (const auto& file : fs::directory_iterator(folder.path() / name / "figures"))
      if (file.path().extension() == ".csv" && !holds_numbers_of_trials(file))
        figures[file.path().filename()] = read_file(file);
    return figures;
  }
  // Returns whether a table contains the number of the best trial.
  static bool holds_numbers_of_trials(const fs::path& file) {
    return file.filename() == "found.csv";
  }

  void expect_same(const std::string& lab, const std::vector<std::string>& more) const {
    run_well(small_search(lab, "whole", more), folder.path());
    const std::map<std::string, Json> expected = found("whole");
    run_hone({"cache", "--empty"}, folder.path());
    expect_same_after_kills(
        20, folder.path(),
        [&](const std::string& output) { return small_search(lab, output, more); },
        [&](const std::string& name) {
          run_hone({"cache", "--empty"}, folder.path());
          const std::map<std::string, Json> now = found(name);
          for (const auto& [key, figure] : expected)
            if (!now.contains(key) || now.at(key) != figure)
              ADD_FAILURE() << key << ": " << figure << " became "
                            << (now.contains(key) ? now.at(key) : Json());
          return now == expected;
        });
  }
};

const std::vector<std::string> kFewTrials = {"--set", "trials=3", "--set", "after_epochs=0.05"};

TEST_F(KilledSearchLab, LongShapesAreTheSameAfterTwentyKills) {
  expect_same("2.1", {"--set", "further_epochs=0.5"});
}

TEST_F(KilledSearchLab, LongShapesWithCompressionAreTheSameAfterTwentyKills) {
  expect_same("2.2", {"--set", "after_epochs=0.05"});
}

TEST_F(KilledSearchLab, LongFixedPointIsTheSameAfterTwentyKills) { expect_same("3.1", kFewTrials); }

TEST_F(KilledSearchLab, LongFormatsAreTheSameAfterTwentyKills) {
  std::vector<std::string> more = kFewTrials;
  more.insert(more.end(),
              {"--set",
               "formats=[{ name = 'log', choices = 'log(width=[4,8])', usual = 'log(width=8)' }]"});
  expect_same("3.2", more);
}

TEST_F(KilledSearchLab, LongAllFormatsAreTheSameAfterTwentyKills) {
  expect_same("3.3", kFewTrials);
}

TEST_F(KilledSearchLab, LongPricedBitsAreTheSameAfterTwentyKills) {
  expect_same("3.4", kFewTrials);
}

}  // namespace
}  // namespace hone::testing
