#include <gtest/gtest.h>
#include <signal.h>

#include <cmath>

#include "hone/tensor/safetensors.h"
#include "tests/cli/run_hone.h"
#include "tests/support/expect.h"
#include "tests/support/test_data.h"

namespace hone::testing {
namespace {

using Words = std::vector<std::string>;

const std::string kOptions = "r=4,alpha=8,dropout=0.1,target=\"query,value\"";

/// A folder with a copy of the workshop, and `adapter`, an adapter trained for its model.
class Lora : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = std::make_unique<TemporaryFolder>();
    fs::copy(workshop(), folder_->path(), fs::copy_options::recursive);
    run_well(training({"-o", "adapter"}), folder());
  }
  static void TearDownTestSuite() { folder_.reset(); }
  static const fs::path& folder() { return folder_->path(); }

  static Words training(const Words& more, const std::string& steps = "12",
                        const std::string& save_steps = "3") {
    Words words = {"train",        "model", "--lora",       kOptions,   "--data", "reviews.csv",
                   "--max_steps",  steps,   "--save_steps", save_steps, "--lr",   "1e-2",
                   "--batch_size", "4"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  static std::string weights(const fs::path& adapter) {
    return read_file(folder() / adapter / "adapter_model.safetensors");
  }
  static std::vector<double> logits(const Words& model) {
    Words words = {"predict"};
    words.insert(words.end(), model.begin(), model.end());
    words.emplace_back("a dull and slow film");
    return run_json(words, folder())["logits"].get<std::vector<double>>();
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
std::unique_ptr<TemporaryFolder> Lora::folder_;

void expect_near(const std::vector<double>& a, const std::vector<double>& b, double tolerance) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i)
    EXPECT_NEAR(a[i], b[i], tolerance * std::max(1.0, std::fabs(b[i])));
}

TEST_F(Lora, LeavesAnAdapterAndNoModel) {
  const std::vector<std::string> files = entries(folder() / "adapter");
  for (const char* file : {"adapter_config.json", "adapter_model.safetensors", "base.json",
                           "vocab.txt", "README.md", "results.json"})
    EXPECT_TRUE(std::ranges::find(files, file) != files.end()) << file;
  for (const char* file : {"model.safetensors", "config.json", "graph.hone"})
    EXPECT_TRUE(std::ranges::find(files, file) == files.end()) << file;
  const Json config = read_json(folder() / "adapter/adapter_config.json");
  EXPECT_EQ(config["target_modules"], (Json{"query", "value"}));
  EXPECT_EQ(config["modules_to_save"], (Json{"classifier"}));
  EXPECT_EQ(config["base_model_name_or_path"], "model");
  EXPECT_EQ(config["lora_alpha"], 8);
  const std::string card = read_file(folder() / "adapter/README.md");
  for (const char* fragment : {"library_name: peft", "an adapter (LoRA) of `model`",
                               "hone train model --data reviews.csv"})
    EXPECT_NE(card.find(fragment), std::string::npos) << fragment << "\n" << card;
}

TEST_F(Lora, TellsWhatIsTrained) {
  const Json results = read_json(folder() / "adapter/results.json");
  // In bert-tiny: A and B of query and value in two layers, and the classifier.
  EXPECT_EQ(results["lora"]["trained"], 2 * 2 * 4 * (128 + 128) + 2 * 128 + 2);
  EXPECT_EQ(results["lora"]["linear_layers"], 4);
  EXPECT_EQ(results["lora"]["disk_bytes"],
            fs::file_size(folder() / "adapter/adapter_model.safetensors"));
  const std::string page = read_page(folder() / "adapter/report.html");
  EXPECT_NE(page.find("Trained: 4,354 of "), std::string::npos);
  EXPECT_NE(page.find(" parameters ("), std::string::npos);
}

TEST_F(Lora, AnswersAsItWasMeasured) {
  const Json trained = read_json(folder() / "adapter/results.json")["validation"];
  const Json again = run_json(
      {"eval", "model", "--adapter", "adapter", "--data", "reviews.csv", "--split", "validation"},
      folder());
  EXPECT_EQ(again["eval_loss"], trained["eval_loss"]);
  EXPECT_EQ(again["eval_accuracy"], trained["eval_accuracy"]);
  EXPECT_EQ(again["adapter"], "adapter");
  EXPECT_NE(logits({"model", "--adapter", "adapter"}), logits({"model"}));
}

TEST_F(Lora, IsTheSameMerged) {
  const Json merged =
      run_json({"lora", "merge", "model", "--adapter", "adapter", "-o", "merged"}, folder());
  EXPECT_EQ(merged["rounded_again"], false);
  EXPECT_EQ(merged["size"]["parameters"].get<std::int64_t>() + 2 * 2 * 4 * (128 + 128),
            merged["lora"]["parameters"].get<std::int64_t>());
  EXPECT_GT(merged["times"][0]["before"]["min_ms"].get<double>(), 0);
  EXPECT_FALSE(fs::exists(folder() / "merged/graph.hone"));  // other programs load the model
  expect_near(logits({"merged"}), logits({"model", "--adapter", "adapter"}), 1e-6);
  EXPECT_NE(
      read_page(folder() / "merged/report.html").find("adapter merged into 4 linear layers: "),
      std::string::npos);
  EXPECT_EQ(merged["others_load"], true);
  EXPECT_NE(read_file(folder() / "merged/README.md")
                .find("`model` with the adapter `adapter` in its weights"),
            std::string::npos);
  const Json measured = run_json({"lora", "merge", "model", "--adapter", "adapter", "--data",
                                  "reviews.csv", "--split", "all", "-o", "merged-measured"},
                                 folder());
  EXPECT_EQ(measured["before"]["eval_accuracy"], measured["after"]["eval_accuracy"]);
  EXPECT_EQ(measured["comparison"]["flip_share"], 0);
  EXPECT_EQ(measured["n"], kReviews);
}

TEST_F(Lora, OfOneBaseThereAreSeveral) {
  run_well(training({"-o", "other", "--seed", "7"}), folder());
  EXPECT_NE(logits({"model", "--adapter", "other"}), logits({"model", "--adapter", "adapter"}));
  EXPECT_EQ(read_json(folder() / "other/base.json"), read_json(folder() / "adapter/base.json"));
  run_well(training({"-o", "seeds", "--seeds", "2"}, "2"), folder());
  EXPECT_NE(weights("seeds/seed-42"), weights("seeds/seed-43"));
  EXPECT_EQ(read_json(folder() / "seeds/results.json")["lora"]["linear_layers"], 4);
}

TEST_F(Lora, AfterAKillGivesTheSameBits) {
  const fs::path partial = folder() / "killed.partial";
  const Ending ending = run_hone_until(training({"-o", "killed"}), folder(), SIGKILL,
                                       [&] { return fs::exists(partial / "checkpoint-3"); });
  if (ending.code != 0) {
    EXPECT_EQ(ending.code, 128 + SIGKILL) << ending.messages;
    run_well(training({"-o", "killed", "--resume"}), folder());
  }
  EXPECT_TRUE(weights("killed") == weights("adapter"));
}

// The kill comes amid accumulated gradients, with a teacher and layer-wise learning rates.
TEST_F(Lora, AfterAKillWithAllThatTrainingTakesGivesTheSameBits) {
  const auto words = [](const std::string& output) {
    return training({"--gradient_accumulation_steps", "3", "--distill", "model", "--distill_alpha",
                     "0.5", "--layerwise_lr_decay", "0.9", "--label_smoothing_factor", "0.1",
                     "--lr_scheduler_type", "cosine", "--class_weights", "balanced", "-o", output});
  };
  run_well(words("summed"), folder());
  const fs::path partial = folder() / "summed-killed.partial";
  const Ending ending = run_hone_until(words("summed-killed"), folder(), SIGKILL,
                                       [&] { return fs::exists(partial / "checkpoint-3"); });
  if (ending.code != 0) {
    EXPECT_EQ(ending.code, 128 + SIGKILL) << ending.messages;
    Words again = words("summed-killed");
    again.emplace_back("--resume");
    run_well(again, folder());
  }
  EXPECT_TRUE(weights("summed-killed") == weights("summed"));
  EXPECT_FALSE(weights("summed") == weights("adapter"));
}

TEST_F(Lora, AfterCtrlCGoesOnFromAnAdapter) {
  const fs::path checkpoint = folder() / "stopped.partial/checkpoint-3";
  const Ending ending = run_hone_until(training({"-o", "stopped"}), folder(), SIGINT,
                                       [&] { return fs::exists(checkpoint); });
  if (ending.code == 0) GTEST_SKIP() << "it was done before the signal came";
  EXPECT_EQ(ending.code, 130) << ending.messages;
  EXPECT_NE(ending.messages.find(" --resume\n"), std::string::npos) << ending.messages;
  if (fs::exists(checkpoint)) {
    EXPECT_FALSE(fs::exists(checkpoint / "model.safetensors"));
    EXPECT_FALSE(fs::exists(checkpoint / "parameters.safetensors"));
    run_well({"predict", "model", "--adapter", checkpoint, "fine"}, folder());
  }
  run_well(training({"-o", "stopped", "--resume"}), folder());
  EXPECT_TRUE(weights("stopped") == weights("adapter"));
}

// 50 kills at random moments, in as many runs as needed.
TEST_F(Lora, LongManyKillsGiveTheSameBits) {
  const auto command = [](const std::string& output) {
    return training({"--quiet", "-o", output}, "150", "2");
  };
  run_well(command("many-whole"), folder());
  expect_same_after_kills(50, folder(), command, [](const std::string& name) {
    return weights(name) == weights("many-whole");
  });
}

TEST_F(Lora, SaysWhenItIsPutOnAnotherBase) {
  run_well({"train", "model", "--data", "reviews.csv", "--max_steps", "1", "-o", "another"},
           folder());
  const Words words = {"eval", "another", "--adapter", "adapter", "--data", "reviews.csv"};
  const std::string warning =
      "adapter was trained with other weights than those of another: their "
      "combination was never trained";
  EXPECT_NE(run_well(words, folder()).messages.find(warning), std::string::npos);
  EXPECT_EQ(run_well({"eval", "model", "--adapter", "adapter", "--data", "reviews.csv"}, folder())
                .messages.find("other weights"),
            std::string::npos);
  run_well({"lora", "merge", "another", "--adapter", "adapter", "-o", "merged-there"}, folder());
  EXPECT_NE(read_page(folder() / "merged-there/report.html").find("other weights"),
            std::string::npos);
}

// Adapters stay in fp32 on a rounded, packed or native base, and an adapter for one of these forms fits the others.
TEST_F(Lora, IsTrainedOnAQuantizedBase) {
  run_well({"quantize", "model", "--weight_format", "mxint(bits=8)", "--data", "reviews.csv", "-o",
            "rounded"},
           folder());
  run_well({"pack", "rounded", "-o", "packed"}, folder());
  for (const char* base : {"rounded", "packed"}) {
    SCOPED_TRACE(base);
    const std::string adapter = std::string("on-") + base;
    Words words = training({"-o", adapter});
    words[1] = base;
    run_well(words, folder());
    for (const char* used : {"rounded", "packed"})
      EXPECT_EQ(run_well({"predict", used, "--adapter", adapter, "fine"}, folder())
                    .messages.find("other weights"),
                std::string::npos)
          << used;
    expect_near(logits({"rounded", "--adapter", adapter}), logits({"packed", "--adapter", adapter}),
                1e-5);
  }
  EXPECT_TRUE(weights("on-rounded") == weights("on-packed"));
  expect_refusal("is packed, and nothing can be added to its codes; unpack the model first",
                 {"lora", "merge", "packed", "--adapter", "on-packed", "-o", "none"});
  const Ending merged = run_well(
      {"lora", "merge", "rounded", "--adapter", "on-packed", "-o", "merged-rounded"}, folder());
  EXPECT_NE(merged.messages.find("rounded to the model's formats again"), std::string::npos);
}

TEST_F(Lora, TakesAFreshHeadAlong) {
  std::string rows = "text,label\n";
  for (const char* label : {"sad", "glad", "mad"})
    for (int i = 0; i < 12; ++i) rows += fmt::format("a {} film number {},{}\n", label, i, label);
  write_file(folder() / "moods.csv", rows);
  const Words words = {"train",     "model",       "--lora", "r=2", "--data",
                       "moods.csv", "--max_steps", "2",      "-o",  "moods"};
  expect_refusal("--ignore_mismatched_sizes", words);
  Words fresh = words;
  fresh.emplace_back("--ignore_mismatched_sizes");
  run_well(fresh, folder());
  const Ending ending =
      run_well({"predict", "model", "--adapter", "moods", "fine", "--json"}, folder());
  EXPECT_EQ(parse_json(ending.output, "output")["labels"], (Json{"glad", "mad", "sad"}));
  EXPECT_EQ(ending.messages.find("warning"), std::string::npos) << ending.messages;
}

TEST_F(Lora, SaysWhatCannotBe) {
  const Words data = {"--data", "reviews.csv", "-o", "none"};
  const auto with = [&](Words words) {
    words.insert(words.end(), data.begin(), data.end());
    return words;
  };
  expect_refusal("--lora: tiny has fresh weights, and adapters need a trained base model",
                 with({"train", "tiny", "--lora", "r=2"}));
  expect_refusal("has no option 'rank'", with({"train", "model", "--lora", "rank=2"}));
  expect_refusal("no linear layer matches 'dense2' of target",
                 with({"train", "model", "--lora", "target=dense2"}));
  expect_refusal(
      "adapter: is an adapter, not a model: give the model that it was trained on (model), and the "
      "adapter by --adapter",
      {"eval", "adapter", "--data", "reviews.csv"});
  expect_refusal("model: no adapter; expected a folder with adapter_config.json",
                 {"eval", "model", "--adapter", "model", "--data", "reviews.csv"});
  expect_refusal("--adapter: tiny has fresh weights",
                 {"bench", "tiny", "--adapter", "adapter", "--runs", "1"});
  expect_refusal("predicts labels with its own head",
                 {"predict", "model", "--adapter", "adapter", "--embed", "fine"});
  expect_refusal("the adapter", {"lora", "merge", "model", "--adapter", "adapter", "-o", "adapter",
                                 "--overwrite"});
  expect_refusal("--lora times training",
                 {"bench", "model", "--lora", "r=2", "--native", "int(bits=8)"}, 2);
  expect_refusal("unknown subcommand 'fold'; expected merge",
                 {"lora", "fold", "model", "--adapter", "adapter", "-o", "none"}, 2);
  expect_refusal("no subcommand; expected merge; see `hone lora --help`", {"lora"}, 2);
  expect_refusal("--adapter is an option of `hone lora merge MODEL`",
                 {"lora", "--adapter", "adapter"}, 2);
}

TEST_F(Lora, ReplacesNoModelAndNoReportReplacesIt) {
  run_well({"convert", "model", "-o", "whole"}, folder());
  const std::string before = weights("adapter");
  expect_refusal("adapter: holds an adapter made by `hone train`, and `hone eval` makes none",
                 {"eval", "model", "--data", "reviews.csv", "-o", "adapter", "--overwrite"}, 2);
  expect_refusal("adapter: holds an adapter made by `hone train`, and `hone train` makes none",
                 {"train", "model", "--data", "reviews.csv", "-o", "adapter", "--overwrite"}, 2);
  expect_refusal("whole: holds a model", training({"-o", "whole", "--overwrite"}), 2);
  EXPECT_EQ(weights("adapter"), before);
  EXPECT_TRUE(fs::exists(folder() / "whole" / "model.safetensors"));
}

TEST_F(Lora, IsTimedAsItIsTrained) {
  const Words bench = {"bench", "model", "--batch_size", "2", "--tokens", "8", "--runs", "1"};
  const auto with = [&](Words words) {
    words.insert(words.begin(), bench.begin(), bench.end());
    return run_json(words, folder());
  };
  const Json step = with({"--lora", kOptions}), full = with({"--train"});
  EXPECT_NE(step["what"].get<std::string>().find("training step, fp32, model with adapters"),
            std::string::npos);
  // Frozen weights have no optimizer moments, which are most of the memory of bert-tiny's step.
  EXPECT_LT(step["needed_bytes"].get<double>(), 0.5 * full["needed_bytes"].get<double>());
  EXPECT_GT(step["resident_bytes"].get<double>(), 0);
  EXPECT_EQ(with({"--adapter", "adapter"})["adapter"], "adapter");
}

// The adapter is added to the results of native products.
TEST_F(Lora, IsTrainedOnANativeBase) {
  run_well({"quantize", "model", "--native", "int(bits=8)", "--keep_slower", "--data",
            "reviews.csv", "-o", "native_base"},
           folder());
  Words words = training({"-o", "on_native"});
  words[1] = "native_base";
  run_well(words, folder());
  const Json result = read_json(folder() / "on_native/results.json");
  EXPECT_EQ(result["lora"]["linear_layers"], 4);
  const Json measured = run_json(
      {"eval", "native_base", "--adapter", "on_native", "--data", "reviews.csv"}, folder());
  EXPECT_EQ(measured["arithmetic"], "native");
  EXPECT_NE(logits({"native_base", "--adapter", "on_native"}), logits({"native_base"}));
}

TEST_F(Lora, TellsTheBaseBeforeTraining) {
  const Json result = read_json(folder() / "adapter/results.json");
  const std::string part = result["before"]["split"];
  const Json base = run_json({"eval", "model", "--data", "reviews.csv", "--split", part}, folder());
  EXPECT_EQ(result["before"]["eval_accuracy"], base["eval_accuracy"]);
  EXPECT_EQ(result["before"]["n"], base["n"]);
  EXPECT_EQ(result["before_fresh_head"], false);
  EXPECT_NE(read_file(folder() / "adapter/report.html").find("Before training, on " + part),
            std::string::npos);
}

TEST_F(Lora, IsComparedWithItsBase) {
  const Json compared = run_json({"compare", "model", "model", "--adapter_b", "adapter", "--data",
                                  "reviews.csv", "--split", "all"},
                                 folder());
  EXPECT_EQ(compared["adapter"], "adapter");
  EXPECT_TRUE(compared["baseline_adapter"].is_null());
  const auto accuracy = [&](const Words& model) {
    Words words = {"eval", "model", "--data", "reviews.csv", "--split", "all"};
    words.insert(words.end(), model.begin(), model.end());
    return run_json(words, folder())["eval_accuracy"];
  };
  EXPECT_EQ(compared["a"]["eval_accuracy"], accuracy({}));
  EXPECT_EQ(compared["b"]["eval_accuracy"], accuracy({"--adapter", "adapter"}));
  const std::string shown =
      run_well({"compare", "model", "model", "--adapter_b", "adapter", "--data", "reviews.csv"},
               folder())
          .output;
  EXPECT_NE(shown.find("model with adapter  "), std::string::npos) << shown;
  run_well({"train", "model", "--max_steps", "1", "--lr", "1e-2", "--data", "reviews.csv", "-o",
            "other_weights"},
           folder());
  expect_refusal(
      "adapter was trained with other weights than those of other_weights: their "
      "combination was never trained; use the base model that the adapter was "
      "trained on",
      {"compare", "model", "other_weights", "--adapter_b", "adapter", "--data", "reviews.csv"});
}

TEST_F(Lora, CountsItsFileOnDisk) {
  const auto disk = [&](const Words& more) {
    Words words = {"eval", "model", "--data", "reviews.csv"};
    words.insert(words.end(), more.begin(), more.end());
    return run_json(words, folder())["size"]["disk_bytes"].get<std::int64_t>();
  };
  EXPECT_EQ(
      disk({"--adapter", "adapter"}) - disk({}),
      static_cast<std::int64_t>(fs::file_size(folder() / "adapter/adapter_model.safetensors")));
}

}  // namespace
}  // namespace hone::testing
