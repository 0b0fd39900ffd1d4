#include <gtest/gtest.h>
#include <signal.h>

#include "hone/search/storage/storage.h"
#include "tests/cli/run_hone.h"
#include "tests/support/expect.h"

namespace hone::testing {
namespace {

using Words = std::vector<std::string>;

/// Gives the tests an empty trial store.
class OwnCache {
 public:
  OwnCache() { ::setenv("XDG_CACHE_HOME", folder_.path().c_str(), 1); }
  ~OwnCache() { ::unsetenv("XDG_CACHE_HOME"); }

 private:
  TemporaryFolder folder_;
};

class AllocateCommand : public ::testing::Test {
 protected:
  void SetUp() override { fs::copy(workshop(), folder_.path(), fs::copy_options::recursive); }
  const fs::path& folder() const { return folder_.path(); }
  static Words allocate(const std::string& budget, const Words& more) {
    Words all = {"allocate",     "model",     "--formats", "int(bits=8),int(bits=2),none",
                 "--budget",     budget,      "--data",    "reviews.csv",
                 "--candidates", "4",         "--swaps",   "2",
                 "--quiet",      "--no_cache"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  // Returns the numbers, states, values and parameters of the study's trials, without timings.
  std::string trials_of(const std::string& output) const {
    const auto storage =
        open_storage((folder() / output / "study.db").string(), /*must_exist=*/true);
    std::vector<std::shared_ptr<const Trial>> trials;
    storage->read_trials(storage->find_study("allocation")->id, trials);
    std::string table;
    for (const auto& trial : trials) {
      if (trial->state != TrialState::complete) continue;
      table += fmt::format("{} {}", trial->values.at(0), trial->values.at(1));
      for (const TrialParameter& parameter : trial->parameters)
        table += fmt::format(" {}={}", parameter.name, parameter.value);
      table += "\n";
    }
    return table;
  }

 private:
  TemporaryFolder folder_;
};

TEST_F(AllocateCommand, KeepsWithinTheBudgetAndLeavesWhatOthersTake) {
  const Json results = run_json(allocate("average_bits<=6", {"-o", "out"}), folder());
  EXPECT_LE(results["average_bits"].get<double>(), 6);
  EXPECT_EQ(results["chosen_on"]["split"], "validation");
  const Json& points = results["points"];
  const auto chosen =
      std::ranges::find_if(points, [](const Json& point) { return point["chosen"] == true; });
  ASSERT_NE(chosen, points.end());
  EXPECT_EQ((*chosen)["trial"], results["trial"]);
  for (const Json& point : points)
    if (point["within"] == true) {
      EXPECT_LE((*chosen)["divergence"], point["divergence"]);
    }
  for (const char* file : {"study.db", "allocation.csv", "allocation.svg", "points.csv",
                           "recipe.toml", "report.html", "best/config.json"})
    EXPECT_TRUE(fs::exists(folder() / "out" / file)) << file;
  EXPECT_EQ(read_file(folder() / "out/allocation.csv").find("none"), std::string::npos)
      << "full precision is called by its name";
  // The recipe produces the same model.
  run_well({"quantize", "model", "--recipe", "out/recipe.toml", "--force", "--data", "reviews.csv",
            "-o", "again"},
           folder());
  EXPECT_EQ(read_file(folder() / "out/best/model.safetensors"),
            read_file(folder() / "again/model.safetensors"));
  EXPECT_EQ(run_json({"eval", "out/best", "--data", "reviews.csv"}, folder())["eval_loss"],
            results["after"]["eval_loss"]);
}

TEST_F(AllocateCommand, WritesTrialsOfASearchOverTheSameFormats) {
  const Json results = run_json(allocate("average_bits<=6", {"-o", "out"}), folder());
  const auto storage = open_storage((folder() / "out/study.db").string(), /*must_exist=*/true);
  const std::optional<Study> study = storage->find_study("allocation");
  ASSERT_TRUE(study);
  EXPECT_EQ(study->directions, (std::vector{Direction::minimize, Direction::minimize}));
  std::vector<std::shared_ptr<const Trial>> trials;
  storage->read_trials(study->id, trials);
  EXPECT_EQ(trials.size(), results["points"].size());
  for (const auto& trial : trials) {
    EXPECT_EQ(trial->state, TrialState::complete);
    EXPECT_EQ(trial->parameters.size(), results["layers"].size());
    for (const TrialParameter& parameter : trial->parameters) {
      EXPECT_TRUE(parameter.name.ends_with(".format")) << parameter.name;
      EXPECT_EQ(parameter.distribution, choice_of({"int(bits=8)", "int(bits=2)", "none"}));
    }
    // Within the budget the violation is 0.
    EXPECT_EQ(trial->violation() > 0, trial->values[1] > 6);
  }
}

TEST_F(AllocateCommand, GivesTheSameForAnyThreadsAndAfterAnInterruption) {
  run_well(allocate("average_bits<=6", {"--threads", "1", "-o", "one"}), folder());
  run_well(allocate("average_bits<=6", {"--threads", "3", "-o", "three"}), folder());
  const std::string truth = trials_of("one");
  EXPECT_FALSE(truth.empty());
  EXPECT_EQ(trials_of("three"), truth);
  const Words words = allocate("average_bits<=6", {"--resume", "-o", "cut"});
  const Ending cut = run_hone_until(words, folder(), SIGINT,
                                    [&] { return fs::exists(folder() / "cut.partial/study.db"); });
  if (cut.code != 0) {
    run_well(words, folder());
  }
  EXPECT_EQ(trials_of("cut"), truth);
  EXPECT_EQ(read_file(folder() / "cut/recipe.toml"), read_file(folder() / "one/recipe.toml"));
  EXPECT_EQ(read_file(folder() / "cut/points.csv"), read_file(folder() / "one/points.csv"));
  // A finished run is not repeated.
  const Json results = run_json(words, folder());
  EXPECT_EQ(results["command"], "allocate");
}

TEST_F(AllocateCommand, GivesWeightsAloneFormatsAndTiedLayersTheSame) {
  Words words = allocate("average_bits<=20,packed_bytes<=4e6",
                         {"--operands", "weight", "--same_format", "*.self.*", "-o", "out"});
  words[3] = "int(bits=4,per=row),none";
  const Json results = run_json(words, folder());
  EXPECT_LE(results["average_bits"].get<double>(), 20);
  EXPECT_LE(results["packed_bytes"].get<double>(), 4e6);
  std::set<std::string> formats;
  for (const Json& layer : results["layers"])
    if (layer["layer"].get<std::string>().find(".self.") != std::string::npos)
      formats.insert(layer["format"].get<std::string>());
  EXPECT_EQ(formats.size(), 1u);
  const Json one =
      run_json(allocate("average_bits<=20", {"--same_format", "*", "-o", "one"}), folder());
  for (const Json& layer : one["layers"]) EXPECT_EQ(layer["format"], one["layers"][0]["format"]);
  EXPECT_EQ(read_file(folder() / "out/recipe.toml").find("input"), std::string::npos);
}

TEST_F(AllocateCommand, TimesLayersAloneAndWhatIsChosenAsAWhole) {
  Words words = allocate("latency_ms<=1000,average_bits<=20",
                         {"--latency_batch_size", "2", "--latency_tokens", "8", "-o", "out"});
  const Json results = run_json(words, folder());
  EXPECT_LE(results["average_bits"].get<double>(), 20);
  const Json& latency = results["latency"];
  EXPECT_EQ(latency["batch_size"], 2);
  EXPECT_EQ(latency["tokens"], 8);
  EXPECT_GT(latency["predicted_ms"].get<double>(), 0);
  EXPECT_GT(latency["after"]["median_ms"].get<double>(), 0);
  for (const Json& point : results["points"]) {
    EXPECT_GT(point["latency_ms"].get<double>(), 0);
  }
  EXPECT_NE(read_page(folder() / "out/report.html").find("Latency: "), std::string::npos);
  words.back() = "all";
  words[5] = "packed_bytes<=3e6,average_bits<=18,latency_ms<=1000";
  const Json all = run_json(words, folder());
  EXPECT_LE(all["average_bits"].get<double>(), 18);
  EXPECT_LE(all["packed_bytes"].get<double>(), 3e6);
  EXPECT_LE(all["latency"]["predicted_ms"].get<double>(), 1000);
  EXPECT_EQ(all["budgets"].size(), 3u);
  EXPECT_EQ(all["front_costs"], 0);
  EXPECT_LE(all["min_predicted"], all["predicted"]);
  words.back() = "none";
  words[5] = "latency_ms<=1e-9,average_bits<=20";
  const Ending ending = run_hone(words, folder());
  EXPECT_NE(ending.messages.find("no choice of these options meets it"), std::string::npos);
  Words longer = allocate("latency_ms<=1", {"--latency_tokens", "100000", "-o", "longer"});
  EXPECT_NE(run_hone(longer, folder()).messages.find("--latency_tokens: the model has "),
            std::string::npos);
}

TEST_F(AllocateCommand, PrunesLayersByTheirOwnShares) {
  Words words = allocate("average_bits<=7", {"--sparsities", "0.5,0.9", "-o", "out"});
  const Json results = run_json(words, folder());
  EXPECT_LE(results["average_bits"].get<double>(), 7);
  EXPECT_TRUE(std::ranges::any_of(results["layers"],
                                  [](const Json& layer) { return !layer["sparsity"].is_null(); }));
  // The recipe produces the same model, masks included.
  run_well({"quantize", "model", "--recipe", "out/recipe.toml", "--force", "--data", "reviews.csv",
            "-o", "again"},
           folder());
  EXPECT_EQ(read_file(folder() / "out/best/model.safetensors"),
            read_file(folder() / "again/model.safetensors"));
  EXPECT_NE(read_page(folder() / "out/report.html").find("which leaves out zeros"),
            std::string::npos);
  Words alone = allocate("average_bits<=20", {"--sparsities", "0.5,0.9", "-o", "alone"});
  alone.erase(alone.begin() + 2, alone.begin() + 4);
  const Json pruned = run_json(alone, folder());
  EXPECT_LE(pruned["average_bits"].get<double>(), 20);
  for (const Json& layer : pruned["layers"]) EXPECT_EQ(layer["format"], "none");
}

TEST_F(AllocateCommand, PrunesLayersInBlocksAndTimesWhatSkipsThem) {
  Words words = allocate("average_bits<=2.4,packed_bytes<=1e9,latency_ms<=1000",
                         {"--sparsities", "0.5,0.8", "--structure", "weights,1x4", "--operands",
                          "weight", "-o", "out"});
  words[3] = "int(bits=8,per=row),none";
  const Json results = run_json(words, folder());
  EXPECT_LE(results["average_bits"].get<double>(), 2.4);
  EXPECT_EQ(results["options"].size(), 2u + 2 * 2 * 2);
  // Only options with blocks have so few bits.
  EXPECT_TRUE(std::ranges::any_of(results["layers"],
                                  [](const Json& layer) { return layer["structure"] == "1x4"; }));
  for (const Json& layer : results["layers"])
    EXPECT_EQ(layer["structure"].is_null(), layer["sparsity"].is_null());
  run_well({"quantize", "model", "--recipe", "out/recipe.toml", "--force", "--data", "reviews.csv",
            "-o", "again"},
           folder());
  EXPECT_EQ(read_file(folder() / "out/best/model.safetensors"),
            read_file(folder() / "again/model.safetensors"));
  // A search accepts the points of the front.
  run_json({"search", "model", "--recipe", "out/search.toml", "--data", "reviews.csv", "--trials",
            "1", "--no_cache", "-o", "searched"},
           folder());
}

TEST_F(AllocateCommand, TakesWhatItKnowsFromTheStoreOfTrials) {
  const OwnCache cache;
  Words words = allocate("average_bits<=6", {"-o", "first"});
  std::erase(words, "--no_cache");
  const Json first = run_json(words, folder());
  words.back() = "second";
  const Json second = run_json(words, folder());
  EXPECT_EQ(second["from_store"], second["points"].size());
  EXPECT_EQ(second["points"], first["points"]);
  EXPECT_EQ(read_file(folder() / "first/recipe.toml"), read_file(folder() / "second/recipe.toml"));
  EXPECT_NE(read_page(folder() / "second/report.html").find("come from earlier runs"),
            std::string::npos);
}

TEST_F(AllocateCommand, LeavesASearchThatBeginsWithItsFront) {
  const OwnCache cache;
  Words words = allocate("average_bits<=6", {"--same_format", "*.self.*", "-o", "out"});
  std::erase(words, "--no_cache");
  const Json results = run_json(words, folder());
  const auto of_front = std::ranges::count_if(
      results["points"], [](const Json& point) { return point["kind"] == "front"; });
  const Json search =
      run_json({"search", "model", "--recipe", "out/search.toml", "--data", "reviews.csv",
                "--trials", std::to_string(of_front + 1), "-o", "searched"},
               folder());
  const auto storage = open_storage((folder() / "searched/study.db").string(), /*must_exist=*/true);
  std::vector<std::shared_ptr<const Trial>> trials;
  storage->read_trials(storage->find_study("search")->id, trials);
  // The points of the front come first, taken from the trial store. The last trial is a new point.
  ASSERT_EQ(std::ssize(trials), of_front + 1);
  for (std::int64_t i = 0; i < of_front; ++i) {
    const Trial& trial = *trials[static_cast<std::size_t>(i)];
    EXPECT_TRUE(trial.user_attributes.contains("cached"));
    EXPECT_TRUE(std::ranges::any_of(results["points"], [&](const Json& point) {
      return point["divergence"] == trial.values.at(0);
    }));
  }
  EXPECT_FALSE(trials.back()->user_attributes.contains("cached"));
}

TEST_F(AllocateCommand, SaysWhatCannotBe) {
  const auto message = [&](const Words& words, int code) {
    const Ending ending = run_hone(words, folder());
    EXPECT_EQ(ending.code, code) << ending.messages;
    EXPECT_FALSE(fs::exists(folder() / "out"));
    return ending.messages;
  };
  EXPECT_NE(message(allocate("average_bits<=2", {"-o", "out"}), 1)
                .find("no choice of these options meets it; the smallest that can be met is 2."),
            std::string::npos);
  EXPECT_NE(message(allocate("bits=2", {"-o", "out"}), 2).find("--budget: budget 'bits=2'"),
            std::string::npos);
  Words rows = allocate("average_bits<=6", {"-o", "out"});
  rows[3] = "int(bits=8,per=row),none";
  EXPECT_NE(message(rows, 1).find("option int(bits=8,per=row) (for the operands in --operands): "),
            std::string::npos);
  EXPECT_FALSE(fs::exists(folder() / "out.partial"));
  Words nothing = allocate("average_bits<=6", {"-o", "out"});
  nothing.erase(nothing.begin() + 2, nothing.begin() + 4);
  EXPECT_NE(message(nothing, 2).find("give --formats, --sparsities, or both"), std::string::npos);
  EXPECT_NE(message(allocate("average_bits<=6", {"--structure", "1x4", "-o", "out"}), 2)
                .find("--sparsities"),
            std::string::npos);
  EXPECT_NE(message(allocate("average_bits<=6",
                             {"--sparsities", "0.5", "--structure", "2:4", "-o", "out"}),
                    2)
                .find("structure 2:4 fixes how many weights to remove"),
            std::string::npos);
  Words fresh = allocate("average_bits<=6", {"-o", "out"});
  fresh[1] = "tiny";
  EXPECT_NE(message(fresh, 1).find(
                "tiny: the weights are fresh, so the cost of formats cannot be measured"),
            std::string::npos);
}

}  // namespace
}  // namespace hone::testing
