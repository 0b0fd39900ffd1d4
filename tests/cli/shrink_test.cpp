#include <gtest/gtest.h>
#include <signal.h>

#include <set>

#include "hone/base/text.h"
#include "hone/search/storage/storage.h"
#include "tests/cli/run_hone.h"
#include "tests/support/expect.h"

namespace hone::testing {
namespace {

using Words = std::vector<std::string>;

class ShrinkCommand : public ::testing::Test {
 protected:
  void SetUp() override { fs::copy(workshop(), folder_.path(), fs::copy_options::recursive); }
  const fs::path& folder() const { return folder_.path(); }
  static Words shrink(const Words& more) {
    Words all = {"shrink", "model", "--data", "reviews.csv", "--quiet", "--no_cache"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  Json results(const std::string& output) const {
    const Json found = parse_json(read_file(folder() / output / "results.json"), output);
    for (const Json& candidate : found["candidates"])
      EXPECT_TRUE(candidate["failure"].is_null()) << candidate["failure"];
    return found;
  }

 private:
  TemporaryFolder folder_;
};

// A handful of texts cannot show anything. The command says how many would, and no gate passes.
TEST_F(ShrinkCommand, OfTooFewTextsItClaimsNothing) {
  const Ending ending =
      run_hone(shrink({"--only", "quantize", "--budget", "1m", "-o", "out"}), folder());
  EXPECT_EQ(ending.code, 3) << ending.messages;
  const Json found = results("out");
  EXPECT_FALSE(found["proven"].get<bool>());
  EXPECT_EQ(found["output"], "unproven");
  EXPECT_GT(found["examples_needed"].get<std::int64_t>(), 100);
  EXPECT_FALSE(fs::exists(folder() / "out/model"));
  EXPECT_NE(ending.messages.find("warning: Too few examples: on validation"), std::string::npos)
      << ending.messages;
  // The output names the number of examples once, and does not recommend the model.
  const std::string needed = fmt::format("about {} validation examples",
                                         grouped(found["examples_needed"].get<std::int64_t>()));
  EXPECT_NE(ending.output.find(needed), std::string::npos) << ending.output;
  EXPECT_EQ(ending.output.find("different examples"), std::string::npos) << ending.output;
  EXPECT_NE(ending.output.find("do not rely on it"), std::string::npos) << ending.output;
  for (const char* command : {"hone predict", "hone export"})
    EXPECT_EQ(ending.output.find(command), std::string::npos) << ending.output;
  EXPECT_NE(ending.output.find("No candidate was shown to be within the limit"), std::string::npos)
      << ending.output;
  for (const Json& step : found["candidates"]) EXPECT_NE(step["verdict"], "within limit");
  // All outputs give the same verdict.
  EXPECT_EQ(found["gate"]["verdict"], "inconclusive");
  EXPECT_EQ(found["comparison"]["verdict"], "inconclusive");
  for (const char* file : {"out/report.md", "out/unproven/README.md"})
    EXPECT_EQ(read_file(folder() / file).find("within the allowed drop"), std::string::npos)
        << file;
  EXPECT_NE(ending.output.find("The search ended after "), std::string::npos) << ending.output;
  // The study lists all candidates, although none is within the limit.
  const Ending listed = run_well({"study", "out/study.db", "shrink"}, folder());
  for (const Json& step : found["candidates"])
    EXPECT_NE(listed.output.find(split(step["recipe"].get<std::string>(), ' ')[0]),
              std::string::npos)
        << listed.output;
  EXPECT_EQ(listed.output.find("Importance"), std::string::npos) << listed.output;
  EXPECT_LT(found["size"]["memory_bytes"], found["size_before"]["memory_bytes"]);
  run_well({"predict", "out/unproven", "some text"}, folder());
}

// Only one of two gates is inconclusive. The examples it needs are counted in examples of the whole split.
TEST_F(ShrinkCommand, NamesTheGateThatACandidateMisses) {
  const std::string gate = "recall(good)>=-2";
  const Ending ending = run_hone(shrink({"--only", "quantize", "--max_drop", "99", "--gate", gate,
                                         "--budget", "1m", "-o", "out"}),
                                 folder());
  EXPECT_EQ(ending.code, 3) << ending.messages;
  const Json found = results("out");
  EXPECT_FALSE(found["proven"].get<bool>());
  EXPECT_GT(found["examples_needed"].get<std::int64_t>(), 100);
  EXPECT_EQ(found["gate"]["gates"][0]["verdict"], "within limit");
  EXPECT_EQ(found["gate"]["gates"][1]["verdict"], "inconclusive");
  ASSERT_FALSE(found["candidates"].empty());
  for (const Json& candidate : found["candidates"])
    EXPECT_EQ(candidate["gates_missed"], Json::array({gate})) << candidate["recipe"];
  EXPECT_NE(ending.output.find("inconclusive for recall of good"), std::string::npos)
      << ending.output;
  EXPECT_NE(ending.output.find("Needed: about "), std::string::npos) << ending.output;
  EXPECT_EQ(ending.output.find("hone predict"), std::string::npos) << ending.output;
}

// Trimming the vocabulary must not use up the only evaluation.
TEST_F(ShrinkCommand, EvaluatesACandidateWhereThereIsOneEvaluation) {
  const Ending ending =
      run_hone(shrink({"--max_evaluations", "1", "--budget", "1m", "-o", "out"}), folder());
  const Json found = results("out");
  EXPECT_EQ(found["candidates"].size(), 1u) << ending.output;
  EXPECT_EQ(found["evaluations"], 1);
  EXPECT_EQ(ending.output.find("1 evaluations"), std::string::npos) << ending.output;
  EXPECT_EQ(ending.messages.find("1 evaluations"), std::string::npos) << ending.messages;
}

TEST_F(ShrinkCommand, OfNothingSmallerTheModelIsNull) {
  const Ending ending =
      run_hone(shrink({"--only", "quantize", "--budget", "0.001s", "-o", "out"}), folder());
  EXPECT_EQ(ending.code, 3) << ending.messages;
  const Json found = results("out");
  EXPECT_EQ(found["candidates"], Json::array());
  for (const char* key : {"output", "after", "size", "times", "gate", "packed", "vocabulary"})
    EXPECT_TRUE(found.at(key).is_null()) << key;
  const std::string end = found["end"];
  EXPECT_NE(end.find("--budget 1m"), std::string::npos) << end;
}

// Steps that change different tensors multiply their savings, except what is stored per row or column (scales,
// smoothing). All layers have the same size.
TEST_F(ShrinkCommand, PredictsTheSizeOfEveryKindOfStepAndOfAllTogether) {
  const std::string heads = "heads = [0, 0.5]\n", neurons = "neurons = [0, 0.5]\n",
                    layers = "layers = [0, 0.5]\n",
                    linears = "linears = [\"none\", \"int(bits=8,per=row)\"]\n",
                    narrow = "narrow = \"int(bits=4,per=row)\"\nnarrow_share = [0, 1]\n",
                    some_narrow = "narrow = \"int(bits=4,per=row)\"\nnarrow_share = [0, 0.5]\n",
                    tables = "tables = [\"none\", \"int(bits=4,per=row)\"]\n",
                    blocks = "[pruning]\nsparsity = [0, 0.6]\nstructure = \"1x4\"\n";
  const std::string recipes[] = {
      "[structure]\n" + heads,
      "[structure]\n" + neurons,
      "[structure]\n" + layers,
      "[native]\n" + linears,
      "[native]\n" + tables,
      "[native]\n" + linears + some_narrow,
      blocks + "[native]\nlinears = \"int(bits=8,per=row)\"\n",
      "[structure]\n" + heads + neurons + "[native]\n" + linears + tables,
      "[structure]\n" + heads + neurons + layers + "[native]\n" + linears + narrow + tables};
  constexpr double kHidden = 128, kNeurons = 512, kLayers = 2, kLabels = 2, kBytes = 4;
  constexpr double kRows = kLayers * (5 * kHidden + kNeurons) + kHidden + kLabels,
                   kColumns = kLayers * (5 * kHidden + kNeurons) + 2 * kHidden;
  for (const std::string& recipe : recipes) {
    write_file(folder() / "space.toml",
               "maximize = \"accuracy\"\nminimize = \"packed_bytes\"\n" + recipe);
    const Json found =
        run_json(shrink({"--recipe", "space.toml", "--max_drop", "99", "--goal", "size",
                         "--max_evaluations", "4", "--overwrite_output_dir", "-o", "out"}),
                 folder());
    EXPECT_TRUE(found["vocabulary"]["applied"].get<bool>());
    EXPECT_FALSE(found["candidates"].empty()) << recipe;
    const double allowed =
        kBytes * (kRows + kColumns) / found["size_before"]["stored_bytes"].get<double>();
    for (const Json& candidate : found["candidates"]) {
      EXPECT_NEAR(candidate["predicted"]["size_share"].get<double>(),
                  candidate["size_share"].get<double>(), allowed)
          << candidate["recipe"];
      EXPECT_TRUE(candidate["recipe"].get<std::string>().starts_with("vocabulary -"));
    }
  }
}

// The second run reuses the weights of the first and says so.
TEST_F(ShrinkCommand, MarksCandidatesThatAnEarlierRunHasTrained) {
  const std::string training = "max_steps = 2\nbatch_size = 4\nlearning_rate = 1e-3\n";
  write_file(folder() / "space.toml",
             "maximize = \"accuracy\"\nminimize = \"packed_bytes\"\n"
             "[structure]\nneurons = [0, 0.5]\n[training]\n" +
                 training);
  const auto trained_before = [&](const std::string& output) {
    const Ending ending =
        run_well({"shrink", "model", "--data", "reviews.csv", "--recipe", "space.toml",
                  "--max_drop", "99", "--goal", "size", "--max_evaluations", "1", "-o", output},
                 folder());
    EXPECT_NE(ending.messages.find("candidate 1: accuracy changed by"), std::string::npos)
        << ending.messages;
    EXPECT_NE(ending.output.find("trained for 2 steps more"), std::string::npos) << ending.output;
    const Json candidates = results(output)["candidates"];
    EXPECT_EQ(candidates.size(), 1u);
    EXPECT_EQ(candidates[0]["candidate"], 1);
    return candidates[0]["trained_before"].get<bool>();
  };
  EXPECT_FALSE(trained_before("first"));
  EXPECT_TRUE(trained_before("second"));
}

// With such a limit some candidate always passes.
TEST_F(ShrinkCommand, LeavesANativeModelThatPredictsAndAStudyOfAllThatWasTried) {
  const Json found = run_json(shrink({"--max_drop", "99", "--goal", "size", "--budget", "2m",
                                      "--max_evaluations", "3", "-o", "out"}),
                              folder());
  EXPECT_TRUE(found["proven"].get<bool>());
  EXPECT_EQ(found["output"], "model");
  EXPECT_EQ(found["gate"]["passed"], true);
  EXPECT_LT(found["size"]["memory_bytes"].get<double>(),
            0.5 * found["size_before"]["memory_bytes"].get<double>());
  EXPECT_LE(found["evaluations"], 3);
  for (const Json& candidate : found["candidates"])
    EXPECT_TRUE(candidate["failure"].is_null()) << candidate["failure"];
  const auto storage = open_storage((folder() / "out/study.db").string(), /*must_exist=*/true);
  std::vector<std::shared_ptr<const Trial>> trials;
  storage->read_trials(storage->find_study("shrink")->id, trials);
  EXPECT_EQ(trials.size(), found["candidates"].size());
  for (const auto& trial : trials) EXPECT_EQ(trial->values.size(), 3u);
  EXPECT_EQ(std::ranges::count(found["candidates"], true,
                               [](const Json& step) { return step["chosen"].get<bool>(); }),
            found["trial"].is_null() ? 0 : 1);
  EXPECT_TRUE(found["packed"].is_null());
  EXPECT_TRUE(read_file(folder() / "out/candidates.csv")
                  .starts_with("candidate,trial,recipe,predicted_size_share,"));
  run_well({"predict", "out/model", "some text"}, folder());
  run_well({"eval", "out/model", "--data", "reviews.csv"}, folder());
  const std::string page = read_page(folder() / "out/report.html");
  for (const char* words : {"Baseline", "Candidates", "hone predict out/model",
                            "hone compare model out/model", "hone export out/model --to onnx "})
    EXPECT_NE(page.find(words), std::string::npos) << words;
  EXPECT_NE(page.find(fmt::format("{} of {} tokens were removed",
                                  found["vocabulary"]["tokens_before"].get<int>() -
                                      found["vocabulary"]["tokens"].get<int>(),
                                  found["vocabulary"]["tokens_before"].get<int>())),
            std::string::npos);
  for (const char* file : {"candidates.csv", "space.toml", "shrink.svg", "shrink.png"})
    EXPECT_TRUE(fs::exists(folder() / "out" / file)) << file;
  EXPECT_FALSE(fs::exists(folder() / "out/trainings"));
  EXPECT_FALSE(fs::exists(folder() / "out/trimmed"));
  // Searches accept the space of the candidates.
  run_well({"search", "model", "--recipe", "out/space.toml", "--data", "reviews.csv", "--trials",
            "2", "--sampler", "random", "-o", "searched"},
           folder());
  // A repeated run has nothing to do.
  const Ending again = run_well(shrink({"--max_drop", "99", "--goal", "size", "--budget", "2m",
                                        "--max_evaluations", "3", "--resume", "-o", "out"}),
                                folder());
  EXPECT_NE(again.output.find("finished already"), std::string::npos);
}

TEST_F(ShrinkCommand, GoesOnWhereItWasKilled) {
  const Words words = shrink({"--max_drop", "99", "--goal", "size", "--budget", "2m",
                              "--max_evaluations", "4", "-o", "out", "--resume"});
  // Kills the run during an evaluation.
  const auto looks = [&] {
    const fs::path file = folder() / "out.partial/study.db";
    if (!fs::exists(file)) return false;
    try {
      const auto storage = open_storage(file.string(), /*must_exist=*/true);
      const std::optional<Study> study = storage->find_study("shrink");
      std::vector<std::shared_ptr<const Trial>> trials;
      if (study) storage->read_trials(study->id, trials);
      return std::ranges::any_of(
          trials, [](const auto& trial) { return trial->state == TrialState::running; });
    } catch (const UserError&) {
      return false;  // its tables are being created
    }
  };
  const Ending killed = run_hone_until(words, folder(), SIGKILL, looks);
  EXPECT_TRUE(killed.code == 0 || killed.code == 128 + SIGKILL) << killed.code;
  run_well(words, folder());
  EXPECT_TRUE(results("out")["proven"].get<bool>());
  // Each evaluation has a reason, and no configuration is evaluated twice.
  std::set<std::string> configurations;
  for (const Json document = results("out"); const Json& step : document["candidates"]) {
    EXPECT_NE(step["recipe"], "");
    EXPECT_GT(step["predicted"]["seconds"], 0);
  }
  const auto storage = open_storage((folder() / "out/study.db").string(), /*must_exist=*/true);
  std::vector<std::shared_ptr<const Trial>> trials;
  storage->read_trials(storage->find_study("shrink")->id, trials);
  std::size_t done = 0;
  for (const auto& trial : trials)
    if (trial->state == TrialState::complete) {
      ++done;
      configurations.insert(to_line(trial->user_attributes.at("configuration")));
    }
  EXPECT_EQ(configurations.size(), done);
  EXPECT_FALSE(fs::exists(folder() / "out.partial"));
}

// Choosing linears for 4 bits is a step of its own.
TEST_F(ShrinkCommand, GivesAllLinearsOneFormatUnlessItMayAllocate) {
  const auto formats_with = [&](const std::string& only, const std::string& output) {
    run_json(shrink({"--max_drop", "99", "--goal", "size", "--only", only, "--max_evaluations", "4",
                     "-o", output}),
             folder());
    return read_file(folder() / output / "space.toml");
  };
  EXPECT_EQ(formats_with("quantize", "eight").find("narrow"), std::string::npos);
  EXPECT_NE(formats_with("quantize,allocate", "some").find("narrow_share"), std::string::npos);
}

// Blocks of weights can be removed with or without formats, whose kernels skip them.
TEST_F(ShrinkCommand, RemovesBlocksOfWeightsWhereItMay) {
  const auto space_with = [&](const std::string& only, const std::string& output) {
    run_hone(shrink({"--max_drop", "99", "--only", only, "--max_evaluations", "2", "-o", output}),
             folder());
    return read_file(folder() / output / "space.toml");
  };
  EXPECT_NE(space_with("sparsify,train", "floats").find("structure = \"4x1\""), std::string::npos);
  EXPECT_NE(space_with("sparsify,quantize", "codes").find("structure = \"1x4\""),
            std::string::npos);
  EXPECT_EQ(space_with("quantize", "whole").find("[pruning]"), std::string::npos);
}

// A single candidate, so that timings do not affect the result.
TEST_F(ShrinkCommand, CountsTheFileOfAModelWithoutItsZeros) {
  write_file(folder() / "space.toml",
             "maximize = \"accuracy\"\nminimize = \"packed_bytes\"\n"
             "[pruning]\nsparsity = [0, 0.8]\nstructure = \"1x4\"\n"
             "[native]\nlinears = \"int(bits=8,per=row)\"\n");
  const Json found = run_json(shrink({"--recipe", "space.toml", "--max_drop", "99", "--goal",
                                      "size", "--max_evaluations", "1", "-o", "out"}),
                              folder());
  ASSERT_EQ(found["candidates"].size(), 1u);
  const double before = found["size_before"]["stored_bytes"].get<double>(),
               after = found["size"]["stored_bytes"].get<double>();
  EXPECT_DOUBLE_EQ(found["candidates"][0]["size_share"].get<double>(), after / before);
  constexpr double kHeader = 64 << 10;
  EXPECT_LT(after, found["size"]["memory_bytes"].get<double>());
  EXPECT_LT(after, found["size"]["disk_bytes"].get<double>());
  EXPECT_GT(after, found["size"]["disk_bytes"].get<double>() - kHeader);
  // The printed size is the one that candidates are ranked by.
  EXPECT_NE(read_file(folder() / "out/report.md").find(three_digits(before / after) + "× smaller"),
            std::string::npos);
}

// Frozen layers keep their weights, shapes and fp32.
TEST_F(ShrinkCommand, LeavesAloneWhatIsFrozen) {
  const Json found =
      run_json(shrink({"--max_drop", "99", "--goal", "size", "--only", "quantize", "--freeze",
                       "*.attention.*", "--max_evaluations", "1", "-o", "out"}),
               folder());
  EXPECT_TRUE(found["proven"].get<bool>());
  const Json config = parse_json(read_file(folder() / "out/model/config.json"), "config");
  const std::string quantized = to_line(config["quantization_config"]);
  EXPECT_EQ(quantized.find(".attention."), std::string::npos) << quantized;
  EXPECT_NE(quantized.find(".intermediate.dense"), std::string::npos) << quantized;
}

TEST_F(ShrinkCommand, SaysWhatCannotBe) {
  const auto message = [&](Words words, int code) {
    const Ending ending = run_hone(words, folder());
    EXPECT_EQ(ending.code, code) << ending.messages;
    EXPECT_FALSE(fs::exists(folder() / "out"));
    return ending.messages;
  };
  const auto has = [](const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  has(message(shrink({"--budget", "soon", "-o", "out"}), 2),
      "expected a time such as 90s, 30m or 2h");
  has(message(shrink({"--goal", "speed", "-o", "out"}), 2), "speed");
  has(message(shrink({"--only", "magic", "-o", "out"}), 2), "--only");
  has(message(shrink({"--only", "trim", "-o", "out"}), 2), "gives no candidates");
  has(message(shrink({"--only", "allocate,prune", "-o", "out"}), 2), "give quantize as well");
  has(message(shrink({"--freeze", "nothing.*", "-o", "out"}), 1),
      "'nothing.*' matches no linear layer and no table");
  has(message(shrink({"--freeze", "*", "--recipe", "space.toml", "-o", "out"}), 2),
      "--recipe defines the whole search space");
  Words fresh = shrink({"-o", "out"});
  fresh[1] = "tiny";
  has(message(fresh, 1), "tiny: the weights are fresh, so there is no accuracy to keep");
}

// Writes two folders: one for transformers, on which the verdict is based, and the packed one.
TEST_F(ShrinkCommand, ForTransformersWritesAndJudgesAFolderThatItLoads) {
  const Json found =
      run_json(shrink({"--max_drop", "99", "--goal", "size", "--budget", "2m", "--max_evaluations",
                       "2", "--loadable", "transformers", "-o", "out"}),
               folder());
  EXPECT_EQ(found["output"], "transformers");
  EXPECT_EQ(found["loadable"], "transformers");
  EXPECT_EQ(found["arithmetic"], "fp32");
  EXPECT_EQ(found["others_load"], true);
  EXPECT_EQ(found["gate"]["passed"], true);
  const Json& packed = found["packed"];
  EXPECT_EQ(packed["output"], "model");
  EXPECT_EQ(packed["arithmetic"], "native");
  EXPECT_EQ(packed["others_load"], false);
  EXPECT_LT(packed["size"]["memory_bytes"].get<double>(),
            0.5 * found["size"]["memory_bytes"].get<double>());
  EXPECT_EQ(packed["size"]["parameters"], found["size"]["parameters"]);
  EXPECT_EQ(packed["times"].size(), found["times"].size());
  const std::string space = read_file(folder() / "out/space.toml");
  EXPECT_EQ(space.find("heads"), std::string::npos) << space;
  EXPECT_NE(space.find("neurons"), std::string::npos) << space;
  // hone also gives the reported metrics for the folder, which is in fp32.
  EXPECT_EQ(run_json({"eval", "out/transformers", "--data", "reviews.csv"}, folder())["eval_loss"],
            found["after"]["eval_loss"]);
  EXPECT_EQ(run_json({"eval", "out/model", "--data", "reviews.csv"}, folder())["eval_loss"],
            packed["after"]["eval_loss"]);
  for (const char* file : {"graph.hone", "parameters.safetensors"})
    EXPECT_FALSE(fs::exists(folder() / "out/transformers" / file)) << file;
  EXPECT_FALSE(
      read_json(folder() / "out/transformers/config.json").contains("quantization_config"));
  // Unpacking gives the same folder.
  run_well({"unpack", "out/model", "--loadable", "transformers", "-o", "again"}, folder());
  EXPECT_TRUE(read_file(folder() / "again/model.safetensors") ==
              read_file(folder() / "out/transformers/model.safetensors"));
  const std::string plain_card = read_file(folder() / "out/transformers/README.md"),
                    packed_card = read_file(folder() / "out/model/README.md");
  for (const char* line : {"library_name: transformers\n", "- The weights are in fp32.\n",
                           "- `transformers` and hone load it.\n"})
    EXPECT_NE(plain_card.find(line), std::string::npos) << line << plain_card;
  EXPECT_EQ(plain_card.find("packed, in the codes"), std::string::npos) << plain_card;
  EXPECT_EQ(plain_card.find("- quantized\n"), std::string::npos) << plain_card;
  for (const char* line : {"library_name: hone\n", "- The weights are packed, ", "- quantized\n"})
    EXPECT_NE(packed_card.find(line), std::string::npos) << line << packed_card;
  const std::string page = read_page(folder() / "out/report.html");
  EXPECT_NE(page.find("model (native)"), std::string::npos);
  // Removed heads, and heads to be removed, are refused with a reason.
  run_well({"prune", "model", "--structure", "heads", "--data", "reviews.csv", "-o", "narrow"},
           folder());
  Words words = shrink({"--loadable", "transformers", "-o", "none"});
  words[1] = "narrow";
  const Ending narrow = run_hone(words, folder());
  EXPECT_EQ(narrow.code, 1);
  EXPECT_NE(narrow.messages.find("transformers cannot load narrow: layer 0 has 1 head of 64"),
            std::string::npos)
      << narrow.messages;
  write_file(folder() / "heads.toml", "maximize = \"accuracy\"\n[structure]\nheads = [0, 0.5]\n");
  const Ending heads = run_hone(
      shrink({"--recipe", "heads.toml", "--loadable", "transformers", "-o", "none"}), folder());
  EXPECT_EQ(heads.code, 1);
  EXPECT_NE(heads.messages.find("makes a model that transformers cannot load: layer 0 has 1 head"),
            std::string::npos)
      << heads.messages;
  EXPECT_FALSE(fs::exists(folder() / "none"));
}

// Kills runs during training and while the two folders are written. There is a single candidate, so that timings do not
// affect the result.
TEST_F(ShrinkCommand, LongManyKillsLeaveTheSameFoldersForTransformersAndHone) {
  const std::string training = "max_steps = 20\nbatch_size = 4\nlearning_rate = 1e-3\n";
  write_file(folder() / "space.toml",
             "maximize = \"accuracy\"\nminimize = \"packed_bytes\"\n"
             "[structure]\nneurons = [0, 0.5]\n[training]\n" +
                 training + "[train_on]\n" + training +
                 "[native]\nlinears = [\"none\", \"int(bits=8,per=row)\"]\n");
  const auto command = [](const std::string& output) {
    return shrink({"--recipe", "space.toml", "--max_drop", "99", "--goal", "size",
                   "--max_evaluations", "1", "--loadable", "transformers", "-o", output});
  };
  run_well(command("whole"), folder());
  expect_same_after_kills(20, folder(), command, [&](const std::string& name) {
    const auto same = [&](const char* file) {
      return read_file(folder() / name / file) == read_file(folder() / "whole" / file);
    };
    return same("transformers/model.safetensors") && same("model/parameters.safetensors") &&
           entries(folder() / name) == entries(folder() / "whole") &&
           !fs::exists(folder() / (name + ".partial"));
  });
}

// Without packed weights one folder is enough.
TEST_F(ShrinkCommand, ForTransformersWithoutFormatsWritesOneFolder) {
  const Json found =
      run_json(shrink({"--max_drop", "99", "--goal", "size", "--max_evaluations", "1", "--only",
                       "prune", "--loadable", "transformers", "-o", "out"}),
               folder());
  EXPECT_EQ(found["output"], "transformers");
  EXPECT_TRUE(found["packed"].is_null());
  EXPECT_FALSE(fs::exists(folder() / "out/model"));
  EXPECT_TRUE(fs::exists(folder() / "out/transformers/model.safetensors"));
  EXPECT_EQ(read_file(folder() / "out/report.md").find("their formats"), std::string::npos);
}

}  // namespace
}  // namespace hone::testing
