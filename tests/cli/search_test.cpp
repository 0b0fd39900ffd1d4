#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "hone/base/text.h"
#include "hone/search/space.h"
#include "hone/search/storage/sqlite_database.h"
#include "hone/search/storage/storage.h"
#include "hone/tensor/safetensors.h"
#include "tests/cli/run_hone.h"
#include "tests/support/expect.h"

// Tests of `hone search`.
namespace hone::testing {
namespace {

using Words = std::vector<std::string>;

class SearchCommand : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::copy(workshop(), folder_.path(), fs::copy_options::recursive);
    write("bits.toml",
          "maximize = 'accuracy - 0.01*average_bits'\n"
          "[[precision]]\n"
          "choice = 'together'\n"
          "formats = ['none', 'int(bits=[4,6,8])']\n");
    write("rates.toml",
          "[train_on]\n"
          "max_steps = 2\n"
          "eval_steps = 1\n"
          "learning_rate = { low = 1e-5, high = 1e-2, log = true }\n"
          "[pruning]\n"
          "sparsity = [0, 0.5]\n");
  }
  const fs::path& folder() const { return folder_.path(); }
  void write(const std::string& name, const std::string& text) const {
    write_file(folder() / name, text);
  }
  static Words search(const std::string& recipe, const Words& more) {
    Words all = {"search", "model",       "--recipe", recipe,
                 "--data", "reviews.csv", "--quiet",  "--no_cache"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  std::string refusal(const Words& words, int code = 1) const {
    const Ending ending = run_hone(words, folder());
    EXPECT_EQ(ending.code, code) << ending.messages;
    return ending.messages;
  }
  std::string refusal_of(const std::string& recipe, const Words& more = {}) const {
    write("bad.toml", recipe);
    Words words = search("bad.toml", more);
    words.insert(words.end(), {"-o", "out"});
    const std::string message = refusal(words);
    EXPECT_FALSE(fs::exists(folder() / "out"));
    return message;
  }
  // Returns the numbers, states, values and parameters of a study's trials, without timings.
  static std::string table_of(const fs::path& file) {
    const auto storage = open_storage(file.string(), /*must_exist=*/true);
    std::vector<std::shared_ptr<const Trial>> trials;
    storage->read_trials(storage->find_study("search")->id, trials);
    std::string table;
    for (const auto& trial : trials)
      table += fmt::format("{} {} {} {}\n", trial->number, to_string(trial->state),
                           trial->values.empty() ? 0 : trial->values[0], key_of(trial->parameters));
    return table;
  }

 private:
  TemporaryFolder folder_;
};

// By default weights are ranked by magnitude within each linear, and each layer loses the same number of neurons.
TEST_F(SearchCommand, PrunesEveryLayerAlikeByDefault) {
  write("zeros.toml", "maximize = 'accuracy'\n[pruning]\nsparsity = [0.5, 0.25]\n");
  run_json(search("zeros.toml", {"--trials", "1", "-o", "zeros"}), folder());
  const TensorMap pruned = read_safetensors(folder() / "zeros/best/model.safetensors").tensors,
                  before = read_safetensors(folder() / "model/model.safetensors").tensors;
  int linears = 0;
  std::set<double> shares;
  for (const auto& [name, tensor] : pruned) {
    if (!name.ends_with("dense.weight")) continue;
    ++linears;
    float least_kept = INFINITY, most_zeroed = 0;
    std::int64_t zeros = 0;
    const std::span<const float> values = tensor.values<float>(),
                                 were = before.at(name).values<float>();
    for (std::size_t i = 0; i < values.size(); ++i) {
      zeros += values[i] == 0 ? 1 : 0;
      float& bound = values[i] == 0 ? most_zeroed : least_kept;
      bound = values[i] == 0 ? std::max(bound, std::fabs(were[i]))
                             : std::min(bound, std::fabs(were[i]));
    }
    shares.insert(static_cast<double>(zeros) / static_cast<double>(tensor.count()));
    EXPECT_LE(most_zeroed, least_kept) << name;
  }
  EXPECT_EQ(linears, 7);
  EXPECT_EQ(shares.size(), 1u) << "of all together, layers would lose different shares";
  EXPECT_TRUE(shares.contains(0.5) || shares.contains(0.25));
  write("neurons.toml", "maximize = 'accuracy'\n[structure]\nneurons = [0.5, 0.25]\n");
  run_json(search("neurons.toml", {"--trials", "1", "-o", "neurons"}), folder());
  const fs::path best = folder() / "neurons/best";
  const TensorMap smaller = read_safetensors(path_exists(best / "parameters.safetensors")
                                                 ? best / "parameters.safetensors"
                                                 : best / "model.safetensors")
                                .tensors;
  std::set<std::int64_t> neurons;
  for (const char* layer : {"0", "1"})
    neurons.insert(
        smaller.at(fmt::format("bert.encoder.layer.{}.intermediate.dense.weight", layer)).size(0));
  EXPECT_EQ(neurons.size(), 1u);
  EXPECT_TRUE(neurons.contains(256) || neurons.contains(384));
}

// Rounding and training keep the zeros of blocks, and packed_bytes does not count them.
TEST_F(SearchCommand, RemovesBlocksFromNativeModels) {
  const std::string sparse =
      "minimize = 'packed_bytes'\n"
      "[pruning]\nsparsity = [0, 0.75]\nstructure = '1x4'\n"
      "[native]\nlinears = 'int(bits=8,per=row)'\n";
  write("rounded.toml", sparse);
  write("trained.toml",
        sparse + "[train_on]\nmax_steps = 1\nbatch_size = 4\nlearning_rate = 1e-4\n");
  for (const std::string name : {"rounded", "trained"}) {
    const Json results = run_json(search(name + ".toml", {"--trials", "2", "-o", name}), folder());
    EXPECT_EQ(results["trials"]["complete"], 2);
    EXPECT_EQ(results["best"]["configuration"]["pruning"],
              (Json{{"sparsity", 0.75}, {"structure", "1x4"}}));
    run_well({"unpack", name + "/best", "-o", name + "-fp32"}, folder());
    const fs::path folder_of = folder() / (name + "-fp32");
    const TensorMap tensors = read_safetensors(path_exists(folder_of / "parameters.safetensors")
                                                   ? folder_of / "parameters.safetensors"
                                                   : folder_of / "model.safetensors")
                                  .tensors;
    const Tensor& weight = tensors.at("bert.encoder.layer.0.intermediate.dense.weight");
    std::int64_t blocks = 0;
    const std::span<const float> values = weight.values<float>();
    for (std::size_t i = 0; i < values.size(); i += 4)
      blocks += std::ranges::all_of(values.subspan(i, 4), [](float x) { return x == 0; }) ? 1 : 0;
    EXPECT_GE(blocks, 3 * std::ssize(values) / 16) << name;
  }
}

TEST_F(SearchCommand, EndsWhereNoPointIsLeftAndKeepsItsWinner) {
  const Json results = run_json(search("bits.toml", {"--trials", "50", "-o", "out"}), folder());
  EXPECT_EQ(results["ended_by"], "exhausted");
  EXPECT_EQ(results["trials"]["complete"], 4);
  EXPECT_EQ(results["objectives"][0]["formula"], "accuracy - 0.01*average_bits");
  const Json& best = results["best"];
  EXPECT_NEAR(best["values"][0].get<double>(),
              best["metrics"]["accuracy"].get<double>() -
                  0.01 * best["metrics"]["average_bits"].get<double>(),
              1e-12);
  EXPECT_EQ(results["chosen_on"]["split"], "validation");
  for (const char* file : {"study.db", "trials.csv", "report.html", "optimization_history.svg",
                           "best/config.json", "best/trained_on.safetensors"})
    EXPECT_TRUE(fs::exists(folder() / "out" / file)) << file;
  EXPECT_FALSE(fs::exists(folder() / "out/study.db-wal"));
  run_well({"predict", "out/best", "a good film"}, folder());
}

TEST_F(SearchCommand, TakesItsSpaceAsTextToo) {
  run_well(search("bits.toml", {"--trials", "3", "-o", "file"}), folder());
  Words words = search("bits.toml", {"--trials", "3", "-o", "text"});
  const auto recipe = std::ranges::find(words, "--recipe");
  *recipe = "--space";
  *(recipe + 1) = read_file(folder() / "bits.toml");
  run_well(words, folder());
  EXPECT_EQ(table_of(folder() / "text/study.db"), table_of(folder() / "file/study.db"));
  *(recipe + 1) = "[[precision]]\nformat = 'int'";
  words.back() = "bad";
  EXPECT_NE(refusal(words).find("--space, line 2: unknown key 'format'"), std::string::npos);
  EXPECT_NE(refusal({"search", "model", "--data", "reviews.csv", "-o", "bad"}, 2)
                .find("give the search space by --recipe FILE or by --space TEXT"),
            std::string::npos);
}

// The values of a point do not depend on the sampler's seed.
TEST_F(SearchCommand, DrawsByASeedOfTheSamplersOwn) {
  const TemporaryFolder cache;
  ::setenv("XDG_CACHE_HOME", cache.path().c_str(), 1);
  const auto run = [&](const char* name, const char* sampler_seed, const char* trials) {
    Words words = search("rates.toml", {"--sampler", "random", "--trials", trials, "--sampler_seed",
                                        sampler_seed, "-o", name});
    std::erase(words, "--no_cache");
    return run_json(words, folder());
  };
  run("first", "42", "3");
  run("other", "1", "3");
  EXPECT_NE(table_of(folder() / "first/study.db"), table_of(folder() / "other/study.db"));
  EXPECT_EQ(run("again", "1", "3")["trials"]["cached"], 3);
  EXPECT_EQ(table_of(folder() / "again/study.db"), table_of(folder() / "other/study.db"));
  EXPECT_NE(refusal(search("rates.toml",
                           {"--sampler", "random", "--trials", "4", "--storage", "other/study.db",
                            "--sampler_seed", "2", "--resume", "-o", "x"}))
                .find("sampler_seed: 1 then, 2 now"),
            std::string::npos);
}

TEST_F(SearchCommand, FindsTheSameWithTwoWorkers) {
  for (const char* workers : {"1", "2"})
    run_well(search("rates.toml",
                    {"--trials", "8", "--workers", workers, "-o", std::string("out") + workers}),
             folder());
  // With n workers a trial does not know the results of the n trials before it, so two workers make another search.
  run_well(
      search("rates.toml", {"--trials", "8", "--workers", "2", "--threads", "1", "-o", "out3"}),
      folder());
  EXPECT_EQ(table_of(folder() / "out2/study.db"), table_of(folder() / "out3/study.db"));
}

TEST_F(SearchCommand, NeverComputesAResultTwice) {
  const TemporaryFolder cache;
  ::setenv("XDG_CACHE_HOME", cache.path().c_str(), 1);
  Words words = search("rates.toml", {"--trials", "5", "-o", "first"});
  std::erase(words, "--no_cache");
  const Json first = run_json(words, folder());
  words.back() = "second";
  const Json second = run_json(words, folder());
  for (Words& other : std::vector<Words>{words}) {
    other.insert(other.end(), {"--sampler", "random"});
    other[other.size() - 3] = "third";
    EXPECT_EQ(run_json(other, folder())["trials"]["complete"], 5);
  }
  // Compiled results may differ in the last digits, so results of the interpreter are not reused.
  words.back() = "compiled";
  words.insert(words.end(), {"--executor", "compiled"});
  const Json compiled = run_json(words, folder());
  ::unsetenv("XDG_CACHE_HOME");
  EXPECT_EQ(compiled["trials"]["cached"], 0);
  EXPECT_EQ(compiled["trials"]["complete"], 5);
  EXPECT_EQ(first["trials"]["cached"], 0);
  EXPECT_EQ(second["trials"]["cached"], 5);
  EXPECT_EQ(first["best"], second["best"]);
  EXPECT_EQ(first["after"]["eval_loss"], second["after"]["eval_loss"]);
}

// Later steps do not change the trained weights.
TEST_F(SearchCommand, TakesWeightsThatAnotherSearchTrained) {
  const std::string training =
      "[training]\nmax_steps = 2\nlearning_rate = [1e-3, 1e-2]\nbatch_size = 4\n";
  write("trained.toml", training);
  write("pruned.toml", training + "[pruning]\nsparsity = 0.5\n");
  const TemporaryFolder cache;
  ::setenv("XDG_CACHE_HOME", cache.path().c_str(), 1);
  const auto run = [&](const std::string& recipe, const std::string& output, bool from_store) {
    Words words = search(recipe, {"--trials", "2", "-o", output});
    if (from_store) std::erase(words, "--no_cache");
    return run_json(words, folder());
  };
  run("trained.toml", "trained", /*from_store=*/true);
  const Json pruned = run("pruned.toml", "pruned", /*from_store=*/true);
  ::unsetenv("XDG_CACHE_HOME");
  const Json alone = run("pruned.toml", "alone", /*from_store=*/false);
  EXPECT_EQ(pruned["trials"]["cached"], 0);
  EXPECT_EQ(pruned["after"]["eval_loss"], alone["after"]["eval_loss"]);
  const auto trained_before = [&](const std::string& output) {
    const auto storage = open_storage((folder() / output / "study.db").string(), true);
    std::vector<std::shared_ptr<const Trial>> trials;
    storage->read_trials(storage->find_study("search")->id, trials);
    return std::ranges::count_if(trials, [](const auto& trial) {
      return trial->user_attributes.contains("trained_before");
    });
  };
  EXPECT_EQ(trained_before("trained"), 0);
  EXPECT_EQ(trained_before("pruned"), 2);
  EXPECT_EQ(trained_before("alone"), 0);
  EXPECT_EQ(read_file(folder() / "pruned/best/model.safetensors"),
            read_file(folder() / "alone/best/model.safetensors"));
}

TEST_F(SearchCommand, TakesArchitecturesThatTheirSizesAllow) {
  write("shapes.toml",
        "maximize = 'accuracy'\n"
        "minimize = 'parameters'\n"
        "[architecture]\n"
        "num_hidden_layers = 1\n"
        "hidden_size = [8, 12]\n"
        "num_attention_heads = [2, 4, 8]\n"
        "intermediate_size = 12\n"
        "square_linears = ['linear', 'identity']\n"
        "[training]\n"
        "max_steps = 1\n");
  const Json results = run_json({"search", "tiny", "--recipe", "shapes.toml", "--data",
                                 "reviews.csv", "--trials", "6", "--no_cache", "-o", "out"},
                                folder());
  EXPECT_EQ(results["trials"]["complete"], 6);
  EXPECT_FALSE(results["front"].empty());
  const Json& shape = results["best"]["configuration"]["architecture"];
  EXPECT_EQ(shape["hidden_size"].get<int>() % shape["num_attention_heads"].get<int>(), 0);
  EXPECT_TRUE(fs::exists(folder() / "out/pareto_front.svg"));
  run_well({"eval", "out/best", "--data", "reviews.csv"}, folder());
}

TEST_F(SearchCommand, SeeksFiguresThatItsTableHasAnyhow) {
  write("small.toml",
        "minimize = ['average_bits', 'packed_bytes']\n" +
            read_file(folder() / "bits.toml")
                .substr(std::string("maximize = 'accuracy - 0.01*average_bits'\n").size()));
  const Ending ending = run_hone(search("small.toml", {"--trials", "3", "-o", "out"}), folder());
  EXPECT_EQ(ending.code, 0) << ending.messages;
  EXPECT_NE(ending.output.find("average_bits"), std::string::npos) << ending.output;
  write("many.toml", "[[precision]]\nformats = ['none', 'int(bits=8)']\n");
  const std::string many =
      run_well(search("many.toml", {"--trials", "2", "-o", "many"}), folder()).output;
  EXPECT_NE(many.find("formats: "), std::string::npos) << many;
}

TEST_F(SearchCommand, SaysWhereItReportsWhatItChoseOn) {
  const std::string flatters = "The choice is made on the split that is reported (validation)";
  const auto said = [&](const Words& more) {
    Words words = {"search",  "model",      "--recipe", "bits.toml",
                   "--quiet", "--no_cache", "--trials", "2"};
    words.insert(words.end(), more.begin(), more.end());
    const Ending ending = run_hone(words, folder());
    EXPECT_EQ(ending.code, 0) << ending.messages;
    return ending.output.find(flatters) != std::string::npos;
  };
  EXPECT_TRUE(said({"--data", "reviews.csv", "-o", "same"}));
  EXPECT_FALSE(said({"--data", "synth:negation?seed=7&n=200", "--label_map",
                     "negative=bad,positive=good", "-o", "apart"}));
}

TEST_F(SearchCommand, PrunesTrialsByTheirEvaluations) {
  const Json results = run_json(
      search("rates.toml", {"--trials", "9", "--pruner", "asha", "--promote", "3", "-o", "out"}),
      folder());
  EXPECT_EQ(results["trials"]["complete"].get<int>() + results["trials"]["pruned"].get<int>(), 9);
}

// Continuing from checkpoints gives the same results as training from the beginning, which happens without a store.
TEST_F(SearchCommand, PrunedTrialsGoOnFromTheirCheckpointsToTheSameFigures) {
  write("losses.toml", "minimize = 'loss'\n" + read_file(folder() / "rates.toml"));
  const Words words = search("losses.toml", {"--sampler", "random", "--trials", "20", "--pruner",
                                             "asha", "--promote", "2", "-o", "again"});
  run_well(words, folder());
  const TemporaryFolder cache;
  ::setenv("XDG_CACHE_HOME", cache.path().c_str(), 1);
  Words kept = words;
  std::erase(kept, "--no_cache");
  kept.back() = "on";
  run_well(kept, folder());
  ::unsetenv("XDG_CACHE_HOME");
  EXPECT_EQ(table_of(folder() / "on/study.db"), table_of(folder() / "again/study.db"));
  const auto attributes_named = [&](const std::string& out, const std::string& name) {
    const auto storage = open_storage((folder() / out / "study.db").string(), /*must_exist=*/true);
    std::vector<std::shared_ptr<const Trial>> trials;
    storage->read_trials(storage->find_study("search")->id, trials);
    return std::ranges::count_if(
        trials, [&](const auto& trial) { return trial->user_attributes.contains(name); });
  };
  EXPECT_GT(attributes_named("on", "from_checkpoint"), 0);
  EXPECT_EQ(attributes_named("on", "from_checkpoint"), attributes_named("on", "continues"));
  EXPECT_EQ(attributes_named("again", "from_checkpoint"), 0);
}

TEST_F(SearchCommand, GoesOnWithAStudyThatWasKilled) {
  const Words words = search("rates.toml", {"--trials", "30", "-o", "out"});
  const fs::path study = folder() / "out.partial/study.db";
  run_hone_until(words, folder(), SIGKILL, [&] { return fs::exists(study); });
  Words again = words;
  again.emplace_back("--resume");
  run_well(again, folder());
  EXPECT_GE(read_json(folder() / "out/results.json")["trials"]["complete"], 29);
  again[2] = "--recipe";
  write("rates.toml", read_file(folder() / "rates.toml") + "\n");
  EXPECT_NE(refusal(again).find("contains another finished run"), std::string::npos);
}

TEST_F(SearchCommand, GoesOnToMoreTrialsThanItWasBegunWith) {
  const fs::path study = folder() / "out.partial/study.db";
  run_hone_until(search("rates.toml", {"--trials", "30", "-o", "out"}), folder(), SIGKILL,
                 [&] { return fs::exists(study); });
  const Words longer = search("rates.toml", {"--trials", "31", "-o", "out", "--resume"});
  run_well(longer, folder());
  EXPECT_GE(read_json(folder() / "out/results.json")["trials"]["complete"], 30);
  const Json settings = read_json(folder() / "out/settings.json");
  EXPECT_EQ(settings["settings"]["trials"], 31);
  EXPECT_EQ(settings["command_line"].get<std::string>().find("--resume"), std::string::npos)
      << "with it, the command does nothing again";
  // A finished run is the same one only with the same limits.
  run_well(longer, folder());
  EXPECT_NE(refusal(search("rates.toml", {"--trials", "32", "-o", "out", "--resume"}))
                .find("trials: 31 then, 32 now"),
            std::string::npos);
}

TEST_F(SearchCommand, KeepsStudiesApartInOneStorage) {
  const Words shared = {"--storage", "studies.db", "--trials", "2"};
  const auto with = [&](Words more) {
    more.insert(more.begin(), shared.begin(), shared.end());
    return search("bits.toml", more);
  };
  run_well(with({"-o", "one"}), folder());
  EXPECT_NE(refusal(with({"-o", "two"})).find("study 'search' exists already"), std::string::npos);
  run_well(with({"--study", "other", "-o", "two"}), folder());
  EXPECT_NE(refusal(with({"--seed", "7", "--join"})).find("study 'search' has other settings:"),
            std::string::npos);
  EXPECT_NE(refusal(with({"--study", "third", "--join"})).find("has no study 'third' to join"),
            std::string::npos);
  EXPECT_NE(refusal(with({"--join"})).find("runs one trial at a time, so no process can join it"),
            std::string::npos);
  EXPECT_NE(refusal(with({"--workers", "2", "--concurrency", "1", "-o", "two"}), 2)
                .find("--concurrency 1 is below --workers 2"),
            std::string::npos);
  EXPECT_FALSE(fs::exists(folder() / "one/study.db"));
}

// Joining workers give the same trials as one worker with the same concurrency.
TEST_F(SearchCommand, SharesAStudyWithThoseThatJoin) {
  const auto with = [](const std::string& trials, const Words& more) {
    Words words = {"--trials", trials, "--sampler", "random"};
    words.insert(words.end(), more.begin(), more.end());
    return search("rates.toml", words);
  };
  run_well(with("12", {"--concurrency", "2", "-o", "alone"}), folder());
  run_well(with("2", {"--concurrency", "2", "--storage", "shared.db", "-o", "out"}), folder());
  for (const auto& [trials, workers, run] : {std::tuple("6", "1", 4), {"12", "2", 6}}) {
    const Json joined = run_json(
        with(trials, {"--storage", "shared.db", "--join", "--workers", workers}), folder());
    EXPECT_EQ(joined["trials_run"], run);
    EXPECT_EQ(joined["ended_by"], "trials");
  }
  EXPECT_EQ(table_of(folder() / "shared.db"), table_of(folder() / "alone/study.db"));
}

TEST_F(SearchCommand, MeasuresTimesWhereNothingWasKeptBefore) {
  const TemporaryFolder home;
  ::setenv("XDG_CACHE_HOME", (home.path() / "not there yet").c_str(), 1);
  write("times.toml",
        "minimize = 'latency_ms'\n"
        "[[precision]]\n"
        "choice = 'together'\n"
        "formats = ['none', 'int(bits=8)']\n");
  Words words = search("times.toml", {"--trials", "2", "-o", "out"});
  std::erase(words, "--no_cache");
  const Json results = run_json(words, folder());
  ::unsetenv("XDG_CACHE_HOME");
  EXPECT_EQ(results["trials"]["complete"], 2);
  EXPECT_EQ(results["trials"]["cached"], 0);
  EXPECT_GT(results["best"]["values"][0].get<double>(), 0);
  EXPECT_EQ(results["times"].size(), 2);
  EXPECT_GT(results["size_before"]["stored_bytes"].get<std::int64_t>(), 0);
  const std::string page = read_page(folder() / "out/report.html");
  for (const char* part : {"<th scope=\"row\">baseline</th><td data-label=\"latency_ms (ms per "
                           "example, batch size 1)\" class=\"number\" data-value",
                           "Latency per example (batch size 1"})
    EXPECT_NE(page.find(part), std::string::npos) << part;
}

TEST_F(SearchCommand, MeasuresTheBaselineBeforeThereIsAStudy) {
  write("times.toml",
        "minimize = 'latency_ms'\n"
        "[[precision]]\n"
        "choice = 'together'\n"
        "formats = ['none', 'int(bits=8)']\n");
  const Words words = search("times.toml", {"--trials", "1", "--storage", "study.db", "-o", "out"});
  write("file", "");
  ::setenv("XDG_CACHE_HOME", (folder() / "file").c_str(), 1);
  EXPECT_NE(refusal(words).find("search.lock: cannot be locked"), std::string::npos);
  ::unsetenv("XDG_CACHE_HOME");
  const auto found = [&] {
    return open_storage((folder() / "study.db").string(), /*must_exist=*/true)
        ->find_study("search");
  };
  EXPECT_FALSE(found());
  Words again = words;
  again.emplace_back("--resume");
  run_well(again, folder());
  const std::optional<Study> study = found();
  ASSERT_TRUE(study);
  EXPECT_GT(study->user_attributes.at("baseline").at("metrics").at("latency_ms"), 0);
}

// A study is created together with its identity and first trials or not at all, so the command can be repeated.
TEST_F(SearchCommand, BeginsItsStudyWholeOrNotAtAll) {
  write("first.toml", read_file(folder() / "bits.toml") + "[[first]]\n'all.format' = 'none'\n");
  const fs::path file = folder() / "study.db";
  open_storage(file.string())->close();
  const auto execute = [&](const char* statement) {
    const auto database = open_sqlite(file, /*may_create=*/false);
    database->transact(SqlAccess::write, [&] { database->run(statement); });
    database->close();
  };
  Words words = search("first.toml", {"--trials", "1", "--storage", "study.db", "-o", "out"});
  execute(
      "CREATE TRIGGER refuse BEFORE INSERT ON trials BEGIN SELECT RAISE(ABORT, 'refused'); END");
  EXPECT_NE(refusal(words).find("refused"), std::string::npos);
  EXPECT_TRUE(open_storage(file.string())->studies().empty());
  execute("DROP TRIGGER refuse");
  words.emplace_back("--resume");
  run_well(words, folder());
  const auto storage = open_storage(file.string(), /*must_exist=*/true);
  const Study study = storage->find_study("search").value();
  for (const char* key : {"identity", "index_values", "measured_on", "family", "seed", "baseline"})
    EXPECT_TRUE(study.user_attributes.contains(key)) << key;
  EXPECT_TRUE(study.system_attributes.contains("study:metric_names"));
}

TEST_F(SearchCommand, CountsBytesOfAPrunedBaselineAsItsTrialsDo) {
  const Json pruned = run_json(
      {"prune", "model", "--data", "reviews.csv", "--sparsity", "0.9", "-o", "sparse"}, folder());
  write("same.toml",
        "[[precision]]\n"
        "choice = 'together'\n"
        "formats = ['none', 'int(bits=8)']\n"
        "[[first]]\n"
        "'all.format' = 'none'\n");
  Words words = search("same.toml", {"--trials", "2", "-o", "out"});
  std::ranges::replace(words, "model", "sparse");
  run_well(words, folder());
  const auto storage = open_storage((folder() / "out/study.db").string(), /*must_exist=*/true);
  const std::optional<Study> study = storage->find_study("search");
  std::vector<std::shared_ptr<const Trial>> trials;
  storage->read_trials(study->id, trials);
  const auto packed_bytes = [](const Json& metrics) { return metrics.at("packed_bytes"); };
  const Json baseline = packed_bytes(study->user_attributes.at("baseline").at("metrics"));
  const Json& zeros = pruned["zeros"];
  EXPECT_GT(zeros["left_out_bytes"], 0);
  EXPECT_EQ(baseline, zeros["packed_bytes"].get<std::int64_t>() -
                          zeros["left_out_bytes"].get<std::int64_t>());
  ASSERT_EQ(trials.size(), 2U);
  EXPECT_EQ(packed_bytes(trials[0]->user_attributes.at("metrics")), baseline);
  EXPECT_LT(packed_bytes(trials[1]->user_attributes.at("metrics")), baseline);
}

TEST_F(SearchCommand, TellsWhyTrialsFailed) {
  write("some.toml",
        "[[precision]]\n"
        "choice = 'together'\n"
        "formats = ['none', 'int(bits=8,per=[row,tensor])']\n");
  const Ending ending = run_hone(search("some.toml", {"--trials", "3", "-o", "out"}), folder());
  EXPECT_EQ(ending.code, 0) << ending.messages;
  EXPECT_NE(ending.messages.find("failed: "), std::string::npos) << ending.messages;
  EXPECT_EQ(read_json(folder() / "out/results.json")["trials"]["failed"], 1);
}

TEST_F(SearchCommand, SaysOnHowManyRunsTheWinnerStands) {
  const Json results =
      run_json(search("rates.toml", {"--trials", "9", "--repeats", "2", "-o", "out"}), folder());
  EXPECT_EQ(results["best"]["runs"], 3);
  const std::string page = read_page(folder() / "out/report.html");
  EXPECT_NE(page.find("the first of 3 runs with different seeds, mean"), std::string::npos);
  const std::string trials = read_file(folder() / "out/trials.csv");
  EXPECT_NE(trials.find(",repeat_of,"), std::string::npos) << trials;
}

TEST_F(SearchCommand, GivesEachTrialItsOwnExactAllocation) {
  write("allocation.toml",
        "maximize = 'accuracy'\n"
        "constraints = ['average_bits <= 5']\n"
        "[training]\n"
        "max_steps = 1\n"
        "learning_rate = { low = 1e-5, high = 1e-2, log = true }\n"
        "[allocation]\n"
        "options = ['int(bits=8)', 'int(bits=2)']\n"
        "budget = 'average_bits <= 5'\n"
        "sensitivity_samples = 16\n"
        "[[first]]\n"
        "'training.learning_rate' = 1e-3\n");
  const Json results =
      run_json(search("allocation.toml", {"--trials", "3", "-o", "out"}), folder());
  EXPECT_EQ(results["trials"]["complete"], 3);
  const auto storage = open_storage((folder() / "out/study.db").string(), /*must_exist=*/true);
  std::vector<std::shared_ptr<const Trial>> trials;
  storage->read_trials(storage->find_study("search")->id, trials);
  EXPECT_NEAR(trials[0]->parameters[0].value, 1e-3, 1e-15);
  for (const auto& trial : trials) {
    const Json& allocated = trial->user_attributes.at("allocated");
    EXPECT_FALSE(allocated.at("formats").empty());
    EXPECT_LE(trial->user_attributes.at("metrics").at("average_bits"), 5);
    EXPECT_LE(trial->violation(), 0);
  }
  // A repeated search gives the same trials.
  run_well(search("allocation.toml", {"--trials", "3", "--threads", "1", "-o", "again"}), folder());
  EXPECT_EQ(table_of(folder() / "again/study.db"), table_of(folder() / "out/study.db"));
}

TEST_F(SearchCommand, AllocatesFormatsWithGroups) {
  write("groups.toml",
        "maximize = 'accuracy'\n"
        "[training]\n"
        "max_steps = [0, 1]\n"
        "[allocation]\n"
        "options = ['int(bits=8)', 'int(bits=4,group=32)', 'nf4']\n"
        "operands = ['weight']\n"
        "budget = 'average_bits <= 5'\n"
        "sensitivity_samples = 16\n");
  const Json results = run_json(search("groups.toml", {"--trials", "1", "-o", "out"}), folder());
  EXPECT_LE(results["best"]["metrics"]["average_bits"], 5);
  const auto storage = open_storage((folder() / "out/study.db").string(), /*must_exist=*/true);
  std::vector<std::shared_ptr<const Trial>> trials;
  storage->read_trials(storage->find_study("search")->id, trials);
  std::set<std::string> formats;
  for (const Json& layer : trials.at(0)->user_attributes.at("allocated").at("formats"))
    formats.insert(layer.at("weight").get<std::string>());
  EXPECT_TRUE(formats.contains("nf4(block=64)") ||
              formats.contains("int(bits=4,group=32,scale=dynamic)"))
      << fmt::format("{}", fmt::join(formats, " "));
  // Each format can be packed.
  run_well({"pack", "out/best", "-o", "packed"}, folder());
}

TEST_F(SearchCommand, ChoosesSparsitiesLayerByLayer) {
  write("sparse.toml",
        "minimize = 'divergence'\n"
        "constraints = ['average_bits <= 17']\n"
        "[[precision]]\n"
        "formats = ['none', 'int(bits=8)', 'int(bits=4)']\n"
        "sparsities = [0, 0.5]\n");
  const Json results = run_json(search("sparse.toml", {"--trials", "3", "-o", "out"}), folder());
  EXPECT_EQ(results["trials"]["complete"], 3);
  EXPECT_GT(results["best"]["metrics"]["sparsity"].get<double>(), 0);
  EXPECT_GT(results["best"]["metrics"]["divergence"].get<double>(), 0);
}

TEST_F(SearchCommand, SaysWhatCannotBeAllocated) {
  const std::string head = "[training]\nmax_steps = [1, 2]\n";
  const std::pair<std::string, const char*> cases[] = {
      {head + "[allocation]\noptions = ['bf16', 'none']\nbudget = 'average_bits <= 5'",
       "no choice of these options meets it"},
      {head + "[allocation]\noptions = ['bf16', 'none']\nbudget = 'latency_ms <= 5'",
       "latencies vary between trials"},
      {head + "[allocation]\noptions = ['bf16', 'none']",
       "[allocation] has no budget; give budget = "},
      {head + "[allocation]\noptions = ['bf16']\nbudget = 'average_bits <= 5'",
       "is the only option"},
      {"[allocation]\noptions = ['bf16', 'none']\nbudget = 'average_bits <= 20'\n"
       "[[precision]]\nformats = ['bf16', 'none']",
       "[allocation] and [[precision]] both choose formats"},
      {"[pruning]\nsparsity = 0.5\n[[precision]]\nformats = ['bf16', 'none']\n"
       "sparsities = [0, 0.5]",
       "both choose what to prune"},
      {head + "[[first]]\n'training.max_stepz' = 1", "no parameter is called 'training.max_stepz'"},
      {head + "[[first]]\n'training.max_steps' = 7", "7 is not one of its values"},
      {"[[precision]]\nformats = ['int(bits=8)', 'int(bits=[4,8])']", "int is listed twice"},
  };
  for (const auto& [recipe, fragment] : cases) {
    const std::string message = refusal_of(recipe);
    EXPECT_NE(message.find(fragment), std::string::npos) << recipe << "\n" << message;
  }
}

TEST_F(SearchCommand, SaysWhatCannotBeSearched) {
  const std::pair<const char*, const char*> cases[] = {
      {"[architecture]\nnum_layers = [1, 2]\n[training]\nmax_steps = 1",
       "bad.toml, line 2: [architecture]: the config.json of BERT has no key 'num_layers', so it "
       "would change nothing"},
      {"[architecture]\nnum_hidden_layers = [1, 2]", "add a section [training]"},
      {"maximize = 'accurcy'\n[[precision]]\nformats = ['bf16', 'none']",
       "no metric is called 'accurcy'"},
      {"[lora]\nr = [1, 2]", "[lora] needs [training]"},
      {"[[precision]]\nlayers = 'nothing'\nformats = ['bf16', 'none']", "matches no linear"},
  };
  for (const auto& [recipe, fragment] : cases) {
    const std::string message = refusal_of(recipe);
    EXPECT_NE(message.find(fragment), std::string::npos) << recipe << "\n" << message;
  }
  EXPECT_NE(refusal_of("maximize = 'accuracy - flips'\n[train_on]\nmax_steps = 1\n[pruning]\n"
                       "sparsity = [0.1, 0.2]",
                       {"--pruner", "median"})
                .find("flips of the objective is known only when a trial has ended"),
            std::string::npos);
  EXPECT_NE(refusal_of("maximize = 'accuracy - 1e-9 * packed_bytes'\n[train_on]\nmax_steps = 1\n"
                       "[native]\nlinears = ['none', 'int(bits=8,per=row)']",
                       {"--pruner", "median"})
                .find("packed_bytes of the objective is known only when a trial has ended"),
            std::string::npos);
  EXPECT_NE(refusal(search("bits.toml", {"--join"}), 2).find("--join needs --storage"),
            std::string::npos);
}

TEST_F(SearchCommand, TellsOfParametersThatChangeNothing) {
  write("dead.toml",
        "[pruning]\n"
        "sparsity = 0\n"
        "method = ['l1', 'random']\n"
        "[[precision]]\n"
        "choice = 'together'\n"
        "formats = ['none', 'bf16']\n");
  const Json results = run_json(search("dead.toml", {"--trials", "3", "-o", "out"}), folder());
  EXPECT_EQ(results["dead_parameters"], Json({"pruning.method"}));
}

}  // namespace
}  // namespace hone::testing
