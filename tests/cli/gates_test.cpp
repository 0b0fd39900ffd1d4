#include <gtest/gtest.h>

#include "tests/cli/run_hone.h"

namespace hone::testing {
namespace {

using Words = std::vector<std::string>;

/// Returns a folder with texts of three classes, one of them rare, 300 of them for testing. `model` is trained on them.
/// `coarse` is the same model with so few bits that it predicts only one class.
const fs::path& tickets() {
  static const TemporaryFolder folder;
  if (fs::exists(folder.path() / "coarse")) return folder.path();
  const auto rows = [](int first, int last) {
    const char* words[] = {"invoice payment", "crash login", "contract court"};
    const char* labels[] = {"billing", "tech", "legal"};
    std::string text = "text,label\n";
    for (int i = first; i < last; ++i) {
      const int which = i % 10 == 0 ? 2 : i % 2;
      text += fmt::format("ticket {} about {},{}\n", i, words[which], labels[which]);
    }
    return text;
  };
  fs::create_directory(folder.path() / "tickets");
  folder.file("tickets/train.csv", rows(0, 200));
  folder.file("tickets/test.csv", rows(200, 500));
  run_well({"train", "tiny", "--data", "tickets", "--max_steps", "60", "--lr", "1e-3",
            "--batch_size", "16", "-o", "model"},
           folder.path());
  run_well({"quantize", "model", "--format", "integer(width=4,frac=3)", "--data", "tickets", "-o",
            "coarse"},
           folder.path());
  return folder.path();
}

Ending compare(const std::string& second, const Words& gates) {
  Words words = {"compare", "model", second, "--data", "tickets", "--json"};
  for (const std::string& gate : gates) words.insert(words.end(), {"--gate", gate});
  return run_hone(words, tickets());
}

TEST(Gates, HoldOnlyWhereAllOfThemDo) {
  const Ending loose = compare("model", {"macro_f1>=-30", "recall(legal)>=-30"});
  EXPECT_EQ(loose.code, 0) << loose.messages;
  const Json gate = json_lines(loose.output).at(0)["gate"];
  EXPECT_TRUE(gate["passed"].get<bool>());
  ASSERT_EQ(gate["gates"].size(), 2u);
  EXPECT_EQ(gate["gates"][0]["metric"], "f1_macro");
  EXPECT_TRUE(gate["gates"][0]["class"].is_null());
  EXPECT_EQ(gate["gates"][1]["metric"], "recall");
  EXPECT_EQ(gate["gates"][1]["class"], "legal");
  EXPECT_EQ(gate["gates"][1]["examples"], 30) << "of that class alone";
  for (const Json& one : gate["gates"]) EXPECT_EQ(one["candidates"], 2) << "the level is halved";
  const Ending strict = compare("model", {"macro_f1>=-30", "recall(legal)>=-2"});
  EXPECT_EQ(strict.code, 3);
  EXPECT_FALSE(json_lines(strict.output).at(0)["gate"]["passed"].get<bool>());
}

// With 30 examples no model can be shown to lose less than two points, not even against itself.
TEST(Gates, AreUnclearWithFewExamplesAndSayHowManyWouldDo) {
  const Ending ending = compare("model", {"recall(legal)>=-2"});
  EXPECT_EQ(ending.code, 3);
  const Json gate = json_lines(ending.output).at(0)["gate"]["gates"][0];
  EXPECT_EQ(gate["verdict"], "inconclusive");
  EXPECT_EQ(gate["change"], 0);
  EXPECT_GT(gate["examples_needed"], 30);
}

TEST(Gates, OfMaxDropIsThatOnTheMainMetric) {
  const auto gate_of = [](const Words& more) {
    Words words = {"compare", "model", "coarse", "--data", "tickets", "--json"};
    words.insert(words.end(), more.begin(), more.end());
    return json_lines(run_hone(words, tickets()).output).at(0)["gate"];
  };
  const Json drop = gate_of({"--max_drop", "1.5"}), gate = gate_of({"--gate", "accuracy>=-1.5"});
  EXPECT_EQ(drop, gate);
  EXPECT_EQ(drop["gates"][0]["margin"], 0.015);
  const Ending both = run_hone({"compare", "model", "coarse", "--data", "tickets", "--max_drop",
                                "1.5", "--gate", "accuracy>=-30"},
                               tickets());
  EXPECT_EQ(both.code, 1);
  for (const char* limit : {"--max_drop 1.5", "accuracy>=-30"})
    EXPECT_NE(both.messages.find(limit), std::string::npos) << both.messages;
}

TEST(Gates, NameClassesThatLostWhateverTheyAre) {
  const Json result = json_lines(compare("coarse", {}).output).at(0);
  ASSERT_FALSE(result["lost_classes"].empty())
      << "the test shows nothing: " << result["comparison"];
  const Json& lost = result["lost_classes"][0];
  EXPECT_LT(lost["recall_change"], 0);
  EXPECT_LT(lost["recall_change_interval"][1], 0);
  EXPECT_LE(lost["p_value"], 0.05);
  const Ending shown = run_well({"compare", "model", "coarse", "--data", "tickets"}, tickets());
  EXPECT_NE(
      shown.output.find(fmt::format("ecall of '{}' fell by", lost["class"].get<std::string>())),
      std::string::npos)
      << shown.output;
}

TEST(Gates, WarnOfADropGivenAsAShare) {
  const auto warned = [](const char* drop) {
    const Ending ending =
        run_hone({"compare", "model", "model", "--data", "tickets", "--max_drop", drop}, tickets());
    return ending.messages.find("2 points are written as 2") != std::string::npos;
  };
  EXPECT_TRUE(warned("0.02"));
  EXPECT_FALSE(warned("2"));
}

TEST(Gates, JudgeCopiesChoicesAndTrials) {
  const TemporaryFolder folder;
  const auto run = [&](Words words) {
    words.insert(words.end(), {"--data", "tickets", "--json"});
    const Ending ending = run_hone(words, tickets());
    EXPECT_TRUE(ending.code == 0 || ending.code == 3) << ending.messages;
    Json result = json_lines(ending.output).at(0);
    if (result.contains("gate") && result["gate"].is_object()) {
      EXPECT_EQ(result["gate"]["passed"], ending.code == 0);
    }
    return result;
  };
  const std::string gate = "recall(legal)>=-100";
  for (const Words& words : {Words{"quantize", "model", "--weight_format", "int(bits=8,per=row)"},
                             {"quantize", "model", "--native", "int(bits=8,per=row)"},
                             {"quantize", "model", "--qat", "--max_steps", "1", "--seeds", "2",
                              "--weight_format", "int(bits=8,per=row)"},
                             {"prune", "model", "--sparsity", "0.5"},
                             {"trim", "model"}}) {
    Words all = words;
    const std::string out = folder.path() / fmt::format("{}-{}", words[0], words.size());
    all.insert(all.end(), {"--gate", gate, "-o", out, "--overwrite"});
    const Json result = run(all);
    EXPECT_EQ(result["gate"]["gates"][0]["gate"], gate) << words[0];
  }
  const Json chosen = run({"choose", "model", "coarse", "--smallest", "--gate", gate});
  EXPECT_NE(chosen["models"][0]["gate"].is_null(), chosen["models"][1]["gate"].is_null());
  folder.file("space.toml",
              "maximize = \"accuracy\"\n[[precision]]\nchoice = 'together'\nformats = "
              "['int(bits=8)', 'bf16']\n");
  const Json searched = run({"search", "model", "--recipe", folder.path() / "space.toml",
                             "--trials", "1", "--gate", gate, "-o", folder.path() / "search"});
  EXPECT_EQ(searched["gate"]["gates"][0]["gate"], gate);
}

// `model` has the best accuracy, `legalist` the best recall of `legal`. Neither passes both gates.
TEST(Gates, OfChoicesAreBesideTheBestByEachMetric) {
  const TemporaryFolder folder;
  std::string rows = "text,label\n";
  for (int i = 500; i < 700; ++i)
    rows += fmt::format("ticket {} about it,{}\n", i,
                        i % 40 != 0   ? "legal"
                        : i % 80 == 0 ? "billing"
                                      : "tech");
  folder.file("legal.csv", rows);
  const std::string legalist = folder.path() / "legalist";
  run_well({"train", "model", "--data", folder.path() / "legal.csv", "--max_steps", "40", "--lr",
            "1e-3", "--batch_size", "16", "-o", legalist},
           tickets());
  const auto choose = [&](const std::string& gate) {
    return run_hone({"choose", "model", legalist, "--smallest", "--max_drop", "1", "--gate", gate,
                     "--split", "test", "--data", "tickets", "--json"},
                    tickets());
  };
  const Ending ending = choose("recall(legal)>=-1");
  EXPECT_EQ(ending.code, 3) << ending.messages;
  const Json result = json_lines(ending.output).at(0);
  EXPECT_EQ(result["chosen"], "model") << "the best";
  for (const auto& [i, gate] : {std::pair(0, "recall(legal)>=-1"), {1, "accuracy>=-1"}}) {
    const Json& one = result["models"][i];
    EXPECT_FALSE(one["eligible"].get<bool>());
    ASSERT_EQ(one["gate"]["gates"].size(), 1u) << "by the other metric it is the best";
    EXPECT_EQ(one["gate"]["gates"][0]["gate"], gate);
  }
  EXPECT_EQ(result["lost_classes"], Json::array()) << "the best is compared with nothing";
  const Ending passed = choose("recall(tech)>=-1");
  EXPECT_EQ(passed.code, 0) << passed.messages;
}

// The default limit is not shown.
TEST(Gates, AreTheHeadlineWhereThereAreAny) {
  const Ending ending =
      run_hone({"compare", "model", "coarse", "--data", "tickets", "--gate", "recall(legal)>=-1"},
               tickets());
  EXPECT_EQ(ending.code, 3) << ending.messages;
  EXPECT_TRUE(ending.output.starts_with("Recall of legal ")) << ending.output;
  EXPECT_EQ(ending.output.find("drop of 0.50"), std::string::npos) << ending.output;
}

TEST(Gates, OfChoicesAreShownOneByOne) {
  const Ending ending =
      run_hone({"choose", "model", "coarse", "--smallest", "--gate", "recall(legal)>=-100",
                "--data", "tickets", "-o", "choice", "--overwrite"},
               tickets());
  const std::string page = read_file(tickets() / "choice/report.md");
  for (const char* part : {"Gates", "Compared with", "Examples needed", "recall(legal)"}) {
    EXPECT_NE(ending.output.find(part), std::string::npos) << ending.output;
    EXPECT_NE(page.find(part), std::string::npos) << page;
  }
}

// With 30 examples no trial can pass. The command says so before it runs any, and how many examples are needed.
TEST(Gates, OfSearchesThatNoTrialPassesEndIt) {
  const TemporaryFolder folder;
  folder.file("space.toml",
              "maximize = \"accuracy\"\n[[precision]]\nchoice = 'together'\nformats = "
              "['int(bits=8)', 'bf16']\n");
  Words words = {"search",   "model",  "--recipe", folder.path() / "space.toml",
                 "--trials", "2",      "--gate",   "recall(legal)>=-1",
                 "--data",   "tickets"};
  words.insert(words.end(), {"-o", folder.path() / "none"});
  const Ending ending = run_hone(words, tickets());
  EXPECT_EQ(ending.code, 3) << ending.messages;
  for (const char* part : {"not even the baseline compared with itself would be shown",
                           "examples of legal for recall of legal"})
    EXPECT_NE(ending.messages.find(part), std::string::npos) << ending.messages;
  EXPECT_NE(ending.output.find("one of 2 trials is shown to pass"), std::string::npos)
      << ending.output;
  EXPECT_FALSE(fs::exists(folder.path() / "none.partial"));
  EXPECT_TRUE(fs::exists(folder.path() / "none/study.db"));
  EXPECT_FALSE(fs::exists(folder.path() / "none/best"));
  const Json result = parse_json(read_file(folder.path() / "none/results.json"), "results");
  EXPECT_EQ(result["excluded_by_gates"].size(), 2u);
  EXPECT_EQ(result["gate"]["passed"], false);
  EXPECT_EQ(result["gate"]["verdict"], "inconclusive");
  words.emplace_back("--resume");
  const Ending again = run_hone(words, tickets());
  EXPECT_EQ(again.code, 3) << "it is finished, and its gate still fails: " << again.messages;
}

TEST(Gates, RefuseWhatTheModelDoesNotHave) {
  const auto refused = [](const std::string& gate, int code, const std::string& fragment) {
    const Ending ending = compare("coarse", {gate});
    EXPECT_EQ(ending.code, code) << gate;
    EXPECT_NE(ending.messages.find(fragment), std::string::npos) << ending.messages;
  };
  refused("recall(leagal)>=-2", 1, "did you mean 'legal'?");
  refused("r2>=-1", 1, "r2");
  refused("loss>=-1", 1, "not counted in points");
  refused("recall(legal)=-2", 2, "there is no >=");
  refused("accuracy>=much", 2, "accuracy>=much");
  refused("f1_macroo>=-1", 2, "did you mean 'f1_macro'?");
  const Ending twice = compare("coarse", {"macro_f1>=-1", "f1_macro>=-2"});
  EXPECT_EQ(twice.code, 1);
  EXPECT_NE(twice.messages.find("two gates are on macro F1"), std::string::npos) << twice.messages;
  const Ending unbounded =
      run_hone({"search", "model", "--recipe", "none.toml", "--data", "tickets", "--timeout", "5",
                "--gate", "accuracy>=-1", "-o", "no"},
               tickets());
  EXPECT_EQ(unbounded.code, 2);
  EXPECT_NE(unbounded.messages.find("--trials"), std::string::npos) << unbounded.messages;
}

}  // namespace
}  // namespace hone::testing
