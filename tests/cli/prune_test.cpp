#include <gtest/gtest.h>
#include <signal.h>

#include "hone/base/text.h"
#include "tests/cli/run_hone.h"
#include "tests/support/expect.h"

namespace hone::testing {
namespace {

using Words = std::vector<std::string>;

class Pruning : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = std::make_unique<TemporaryFolder>();
    fs::copy(workshop(), folder_->path(), fs::copy_options::recursive);
  }
  static void TearDownTestSuite() { folder_.reset(); }
  static const fs::path& folder() { return folder_->path(); }

  static Words pruning(const Words& more) {
    Words words = {"prune", "model", "--data", "reviews.csv"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  static Words cubic(const std::string& output, const std::string& steps) {
    return pruning({"--sparsity", "0.8", "--schedule", "cubic", "--activation_sparsity", "0.2",
                    "--calibration_batches", "1", "--max_steps", steps, "--save_steps", "2", "--lr",
                    "1e-3", "--batch_size", "4", "--quiet", "-o", output});
  }
  static std::string weights(const fs::path& model) {
    const fs::path own = folder() / model / "parameters.safetensors";
    return read_file(fs::exists(own) ? own : folder() / model / "model.safetensors");
  }
  static void expect_refusal(const std::string& fragment, const Words& words, int code = 1) {
    const Ending ending = run_hone(words, folder());
    EXPECT_EQ(ending.code, code) << ending.messages;
    EXPECT_NE(ending.messages.find(fragment), std::string::npos)
        << "expected '" << fragment << "' in " << ending.messages;
  }

 private:
  static std::unique_ptr<TemporaryFolder> folder_;
};
std::unique_ptr<TemporaryFolder> Pruning::folder_;

TEST_F(Pruning, TellsWhatIsZeroAndThatNothingIsFaster) {
  const std::string output = run_well(pruning({"-o", "half"}), folder()).output;
  for (const char* line : {"in 13 tensors", "50.0%", "13 linear layers skip no zeros",
                           "hone pack half -o half-packed"})
    EXPECT_NE(output.find(line), std::string::npos) << output;
  const Json results = read_json(folder() / "half/results.json");
  EXPECT_EQ(results["pruning"], "prune");
  EXPECT_EQ(results["sparsity"], 0.5);
  for (const char* key : {"activations", "gate", "steps", "caveat"})
    EXPECT_TRUE(results.at(key).is_null()) << key;
  EXPECT_EQ(results["zeros"]["pruned_weights"]["share"], 0.5);
  EXPECT_EQ(results["zeros"]["masked"], results["zeros"]["pruned_weights"]["zeros"]);
  EXPECT_EQ(results["zeros"]["weights"].size(), 13);
  EXPECT_EQ(results["zeros"]["skipping"]["linear_layers"], 14);
  EXPECT_EQ(results["zeros"]["skipping"]["skipping_layers"], 0);
  EXPECT_TRUE(results["comparison"].contains("verdict"));
  EXPECT_GT(results["size"]["disk_bytes"], results["size_before"]["disk_bytes"])
      << "masks are stored, too";
  const std::string page = read_page(folder() / "half/report.html");
  EXPECT_NE(page.find("Pruned weights"), std::string::npos);
  const std::string card = read_file(folder() / "half/README.md");
  for (const char* fragment :
       {"- pruned\n", "`model` pruned (`prune`)", "| before pruning |",
        "library_name: transformers\n", "`hone pack` leaves them out",
        "- 13 linear layers skip no zeros", "Weights: ", "Latency per example at batch size "})
    EXPECT_NE(card.find(fragment), std::string::npos) << fragment << "\n" << card;
}

TEST_F(Pruning, AnswersAsItWasMeasured) {
  run_well(pruning({"--activation_sparsity", "0.3", "--split", "all", "-o", "both"}), folder());
  const Json pruned = read_json(folder() / "both/results.json");
  const Json again =
      run_json({"eval", "both", "--data", "reviews.csv", "--split", "all"}, folder());
  EXPECT_EQ(again["eval_loss"], pruned["after"]["eval_loss"]);
  EXPECT_EQ(pruned["inputs"].size(), 9);
  EXPECT_GT(pruned["inputs"][0]["min_magnitude"], 0);
  EXPECT_EQ(pruned["others_load"], false) << "thresholds are known here alone";
  EXPECT_NE(read_file(folder() / "both/README.md").find("library_name: hone\n"), std::string::npos);
  EXPECT_EQ(pruned["calibration_examples"].get<int>() > 0, true);
  // Removing layers removes their masks and thresholds.
  run_well({"prune", "both", "--structure", "layers", "--data", "reviews.csv", "-o", "shallow"},
           folder());
  EXPECT_EQ(run_json({"pass", "shallow", "count_operations", "kind=threshold"},
                     folder())["found"]["operations"],
            5);
}

TEST_F(Pruning, BySeedIsTheSame) {
  for (const char* output : {"random", "again"})
    run_well(pruning({"--method", "random", "--seed", "7", "-o", output}), folder());
  run_well(pruning({"--method", "random", "--seed", "8", "-o", "other"}), folder());
  EXPECT_TRUE(weights("random") == weights("again"));
  EXPECT_FALSE(weights("random") == weights("other"));
}

TEST_F(Pruning, BeginsWithUnroundedWeights) {
  run_well({"quantize", "model", "--qat", "--max_steps", "2", "--format", "integer(width=4,frac=3)",
            "--data", "reviews.csv", "-o", "qat"},
           folder());
  const auto zeros = [&](const std::string& output) {
    return read_json(folder() / output / "results.json")["zeros"];
  };
  run_well({"prune", "qat", "--sparsity", "0.2", "--data", "reviews.csv", "-o", "from-unrounded"},
           folder());
  fs::copy(folder() / "qat", folder() / "rounded", fs::copy_options::recursive);
  fs::remove(folder() / "rounded/unrounded.safetensors");
  run_well({"prune", "rounded", "--sparsity", "0.2", "--data", "reviews.csv", "-o", "from-rounded"},
           folder());
  EXPECT_EQ(zeros("from-unrounded")["masked"], zeros("from-rounded")["masked"]);
  EXPECT_TRUE(read_json(folder() / "from-rounded/results.json")["times"].empty())
      << "simulated formats say nothing about speed";
  EXPECT_FALSE(weights("from-unrounded") == weights("from-rounded")) << "ties decide there";
  EXPECT_TRUE(fs::exists(folder() / "from-unrounded/unrounded.safetensors"));
  // The pass alone also ranks by unrounded weights, and removes the same ones.
  run_well({"pass", "qat", "prune", "sparsity=0.2", "-o", "by-pass"}, folder());
  EXPECT_TRUE(weights("by-pass") == weights("from-unrounded"));
  EXPECT_TRUE(read_file(folder() / "by-pass/unrounded.safetensors") ==
              read_file(folder() / "from-unrounded/unrounded.safetensors"));
}

TEST_F(Pruning, IsQuantizedPackedAndMadeNative) {
  run_well(pruning({"-o", "sparse"}), folder());
  run_well({"quantize", "sparse", "--format", "mxint(bits=8)", "--data", "reviews.csv", "-o",
            "sparse-mx"},
           folder());
  const Ending packing = run_well({"pack", "sparse-mx", "-o", "sparse-packed"}, folder());
  EXPECT_NE(packing.messages.find("the masks of 13 pruned weights are not packed"),
            std::string::npos)
      << packing.messages;
  EXPECT_NE(read_file(folder() / "sparse-packed/README.md").find("library_name: hone\n"),
            std::string::npos);
  run_well({"unpack", "sparse-packed", "-o", "sparse-unpacked"}, folder());
  EXPECT_NE(read_file(folder() / "sparse-unpacked/README.md").find("library_name: transformers\n"),
            std::string::npos);
  const auto logits = [&](const char* model) {
    return run_json({"predict", model, "fine"}, folder())["logits"].get<std::vector<double>>();
  };
  const std::vector<double> simulated = logits("sparse-mx"), packed = logits("sparse-packed");
  for (std::size_t i = 0; i < packed.size(); ++i) EXPECT_NEAR(packed[i], simulated[i], 1e-4);
  EXPECT_LT(fs::file_size(folder() / "sparse-packed/parameters.safetensors"),
            fs::file_size(folder() / "sparse-mx/model.safetensors") - 1'000'000);
  run_well({"quantize", "sparse", "--native", "int(bits=8,per=row)", "--keep_slower", "--data",
            "reviews.csv", "-o", "sparse-native"},
           folder());
}

TEST_F(Pruning, OfTwoInFourIsOfEveryRow) {
  run_well(pruning({"--structure", "2:4", "-o", "pattern"}), folder());
  EXPECT_EQ(read_json(folder() / "pattern/results.json")["pruning"], "prune(structure=\"2:4\")");
}

TEST_F(Pruning, AfterAKillGivesTheSameBits) {
  run_well(cubic("whole", "12"), folder());
  const fs::path checkpoint = folder() / "killed.partial/checkpoint-4";
  const Ending ending = run_hone_until(cubic("killed", "12"), folder(), SIGKILL,
                                       [&] { return fs::exists(checkpoint); });
  if (ending.code != 0) {
    Words resumed = cubic("killed", "12");
    resumed.emplace_back("--resume");
    run_well(resumed, folder());
  }
  EXPECT_TRUE(weights("killed") == weights("whole"));
}

TEST_F(Pruning, ByMovementAfterAKillGivesTheSameBits) {
  const auto command = [](const std::string& output) {
    return pruning({"--sparsity", "0.8", "--method", "movement", "--schedule", "cubic",
                    "--max_steps", "12", "--save_steps", "2", "--lr", "1e-3", "--batch_size", "4",
                    "--quiet", "-o", output});
  };
  run_well(command("moved"), folder());
  const fs::path checkpoint = folder() / "moved-killed.partial/checkpoint-4";
  const Ending ending = run_hone_until(command("moved-killed"), folder(), SIGKILL,
                                       [&] { return fs::exists(checkpoint); });
  if (ending.code != 0) {
    Words resumed = command("moved-killed");
    resumed.emplace_back("--resume");
    run_well(resumed, folder());
  }
  EXPECT_TRUE(weights("moved-killed") == weights("moved"));
  Words one_thread = command("moved-one");
  one_thread.insert(one_thread.end(), {"--threads", "1"});
  run_well(one_thread, folder());
  EXPECT_TRUE(weights("moved-one") == weights("moved"));
  const Json results = read_json(folder() / "moved/results.json");
  EXPECT_EQ(results["method"], "movement");
  EXPECT_NEAR(results["zeros"]["pruned_weights"]["share"].get<double>(), 0.8, 1e-3);
}

TEST_F(Pruning, ByExamplesIsTheSameForAnyNumberOfThreads) {
  for (const char* method : {"first_order", "sparsegpt"}) {
    const auto name = [&](const char* threads) { return std::string(method) + threads; };
    for (const char* threads : {"1", "2"})
      run_well(pruning({"--method", method, "--structure", "2:4", "--calibration_batches", "2",
                        "--threads", threads, "-o", name(threads)}),
               folder());
    EXPECT_TRUE(weights(name("1")) == weights(name("2"))) << method;
    const Json results = read_json(folder() / name("1") / "results.json");
    EXPECT_EQ(results["method"], method);
    EXPECT_GT(results["calibration_examples"].get<int>(), 0);
    EXPECT_GE(results["zeros"]["pruned_weights"]["share"].get<double>(), 0.5);
  }
}

TEST_F(Pruning, OfActivationsBelowOneNumberIsAPass) {
  run_well(
      {"pass", "model", "prune_inputs", "least=0.5", "target=*.intermediate.dense", "-o", "cut"},
      folder());
  const Json found = run_json({"pass", "cut", "count_operations", "kind=threshold"}, folder());
  EXPECT_EQ(found["found"]["operations"], 2) << found.dump();
  const auto logits = [&](const char* model) {
    return run_json({"predict", model, "fine"}, folder())["logits"];
  };
  EXPECT_NE(logits("cut"), logits("model"));
  expect_refusal("pass prune_inputs: needs least: threshold: smaller magnitudes become 0",
                 {"pass", "model", "prune_inputs", "-o", "none"});
  expect_refusal("`least`: expected a magnitude from 0 on, got -1",
                 {"pass", "model", "prune_inputs", "least=-1.0", "-o", "none"});
}

// 50 kills at random moments, in as many runs as needed.
TEST_F(Pruning, LongManyKillsGiveTheSameBits) {
  const auto command = [](const std::string& output) { return cubic(output, "150"); };
  run_well(command("many-whole"), folder());
  expect_same_after_kills(50, folder(), command, [](const std::string& name) {
    return weights(name) == weights("many-whole");
  });
}

TEST_F(Pruning, OfSeveralSeedsTellsTheirSpread) {
  const Json several = run_json(
      pruning({"--method", "random", "--seed", "7", "--seeds", "2", "-o", "seeds"}), folder());
  EXPECT_EQ(several["seeds"], 2);
  EXPECT_EQ(several["runs"].size(), 2);
  EXPECT_TRUE(several["change"].contains("verdict"));
  run_well(pruning({"--method", "random", "--seed", "8", "-o", "eighth"}), folder());
  EXPECT_TRUE(weights("seeds/seed-8") == weights("eighth"));
  EXPECT_NE(read_file(folder() / "seeds/seed-8/README.md").find("seeds/seed-8"), std::string::npos);
  expect_refusal("--seeds repeats a job with randomness", pruning({"--seeds", "2", "-o", "none"}),
                 2);
}

// --overwrite also replaces the folder of another command.
TEST_F(Pruning, TakesThePlaceOfATrainedModel) {
  run_well({"train", "model", "--max_steps", "1", "--data", "reviews.csv", "-o", "replaced"},
           folder());
  run_well(pruning({"-o", "replaced", "--overwrite"}), folder());
  EXPECT_EQ(read_json(folder() / "replaced/results.json")["command"], "prune");
}

TEST_F(Pruning, IsStudiedBySparsity) {
  const Json results = run_json({"sparsities", "model", "--sparsities", "0.5,0.1", "--data",
                                 "reviews.csv", "--validation_split", "0.4", "-o", "study"},
                                folder());
  EXPECT_EQ(results["models"].size(), 1 + 2 * 2);
  EXPECT_NE(results["models"][1]["model"].get<std::string>().find("10.0%, l1"), std::string::npos);
  EXPECT_TRUE(results["max_sparsity"].contains("l1"));
  EXPECT_TRUE(results["max_sparsity"].contains("random"));
  EXPECT_EQ(results["structure"], "weights");
  EXPECT_EQ(results["trained"], false);
  const std::vector<std::string> files = entries(folder() / "study");
  for (const char* file : {"results.csv", "report.html", "sparsity.tsv"})
    EXPECT_TRUE(std::ranges::find(files, file) != files.end()) << file;
  const std::vector<std::string> rows = split(read_file(folder() / "study/results.csv"), '\n');
  EXPECT_NE(rows[1].find("validation"), std::string::npos) << rows[1];
}

TEST_F(Pruning, IsStudiedOfAQuantizedModelBesideThat) {
  run_well({"quantize", "model", "--weight_format", "int(bits=8)", "--data", "reviews.csv", "-o",
            "int8"},
           folder());
  const Json results =
      run_json({"sparsities", "int8", "--sparsities", "0.2", "--methods", "l1", "--structure",
                "4x1", "--max_steps", "1", "--data", "reviews.csv", "-o", "study-int8"},
               folder());
  EXPECT_EQ(results["models"].size(), 2);
  EXPECT_EQ(results["structure"], "4x1");
  EXPECT_NE(results["models"][1]["model"].get<std::string>().find("4x1"), std::string::npos);
  for (const Json& model : results["models"]) EXPECT_EQ(model["arithmetic"], "simulated");
  EXPECT_NE(results["models"][0]["model"].get<std::string>().find("int(bits=8"), std::string::npos);
  EXPECT_NE(results["findings"].dump().find("training and pruning together"), std::string::npos);
}

TEST_F(Pruning, SaysWhatCannotBe) {
  expect_refusal("--structure 2:4 sets how many weights to remove; leave out --sparsity",
                 pruning({"--structure", "2:4", "--sparsity", "0.5", "-o", "none"}), 2);
  expect_refusal("--structure: expected weights; N:M",
                 pruning({"--structure", "4:2", "-o", "none"}), 2);
  expect_refusal("--ramp needs --schedule cubic", pruning({"--ramp", "0.2", "-o", "none"}), 2);
  expect_refusal("--calibration_batches needs --activation_sparsity",
                 pruning({"--calibration_batches", "2", "-o", "none"}), 2);
  expect_refusal("--sparsity: expected a number from 0 to 1, got 50",
                 pruning({"--sparsity", "50", "-o", "none"}), 2);
  expect_refusal("--ramp: expected a number above 0 and at most 1, got 2",
                 pruning({"--schedule", "cubic", "--ramp", "2", "-o", "none"}), 2);
  expect_refusal("--schedule cubic raises the sparsity",
                 pruning({"--schedule", "cubic", "-o", "none"}), 2);
  expect_refusal("--method movement scores weights by how training moves them: give --schedule",
                 pruning({"--method", "movement", "-o", "none"}), 2);
  expect_refusal("--scope must be local",
                 pruning({"--method", "sparsegpt", "--scope", "global", "-o", "none"}), 2);
  expect_refusal(
      "--method sparsegpt removes weights at once",
      pruning({"--method", "sparsegpt", "--schedule", "cubic", "--max_steps", "2", "-o", "none"}),
      2);
  expect_refusal(
      "--methods movement scores weights by how training moves them",
      {"sparsities", "model", "--methods", "movement", "--data", "reviews.csv", "-o", "none"}, 2);
  expect_refusal("no operation with weights matches 'dense2' of --target",
                 pruning({"--target", "dense2", "-o", "none"}));
  run_well({"pack", "model", "--weight_format", "mxint(bits=8)", "-o", "packed"}, folder());
  expect_refusal("its weights are packed",
                 {"prune", "packed", "--data", "reviews.csv", "-o", "none"});
  expect_refusal(
      "expected a number of at least 0 and below 1, got 1",
      {"sparsities", "model", "--sparsities", "1", "--data", "reviews.csv", "-o", "none"}, 2);
}

}  // namespace
}  // namespace hone::testing
