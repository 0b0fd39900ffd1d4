#include <gtest/gtest.h>
#include <signal.h>

#include "hone/base/written_files.h"
#include "hone/tensor/safetensors.h"
#include "tests/cli/run_hone.h"
#include "tests/support/expect.h"

// Tests of interrupted runs that are resumed.
namespace hone::testing {
namespace {

const std::vector<std::string> kTraining = {
    "train",           "tiny", "--data",       "synth:lookup?n=300&test=60",
    "--max_steps",     "12",   "--save_steps", "3",
    "--logging_steps", "2",    "--batch_size", "4"};

std::vector<std::string> training(std::vector<std::string> more) {
  more.insert(more.begin(), kTraining.begin(), kTraining.end());
  return more;
}

// Returns the result without the fields that differ between runs.
Json without_times(Json result) {
  if (result.is_object()) {
    result.erase("eval_runtime");
    result.erase("eval_samples_per_second");
  }
  for (Json& part : result)
    if (part.is_structured()) part = without_times(part);
  return result;
}

/// A folder with the model `whole`, trained without an interruption.
class Resume : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = std::make_unique<TemporaryFolder>();
    run_well(training({"-o", "whole"}), folder_->path());
  }
  static void TearDownTestSuite() { folder_.reset(); }
  static const fs::path& folder() { return folder_->path(); }
  static std::string weights(const std::string& model) {
    return read_file(folder() / model / "model.safetensors");
  }

 private:
  static std::unique_ptr<TemporaryFolder> folder_;
};
std::unique_ptr<TemporaryFolder> Resume::folder_;

TEST_F(Resume, AfterAKillGivesTheSameBits) {
  const fs::path partial = folder() / "killed.partial";
  // Kills the first run at the first checkpoint, and the next ones while later checkpoints are written.
  int kills = 0;
  std::vector<std::string> command = training({"-o", "killed"});
  for (const char* file : {"checkpoint-3", "checkpoint-6", "checkpoint-9"}) {
    const Ending ending =
        run_hone_until(command, folder(), SIGKILL, [&] { return fs::exists(partial / file); });
    if (ending.code == 0) break;
    EXPECT_EQ(ending.code, 128 + SIGKILL) << ending.messages;
    EXPECT_FALSE(fs::exists(folder() / "killed"));
    ++kills;
    command = training({"-o", "killed", "--resume"});
  }
  ASSERT_GT(kills, 0);
  if (!fs::exists(folder() / "killed")) run_well(command, folder());
  EXPECT_TRUE(weights("killed") == weights("whole"));
  EXPECT_FALSE(fs::exists(partial));
}

TEST_F(Resume, AfterCtrlCGivesTheSameBits) {
  const Ending ending = run_hone_until(training({"-o", "stopped"}), folder(), SIGINT, [&] {
    return fs::exists(folder() / "stopped.partial/checkpoint-3");
  });
  EXPECT_EQ(ending.code, 130) << ending.messages;
  EXPECT_EQ(ending.output, "");
  for (const char* fragment :
       {"stopping after this step", "interrupted after step ", "stopped.partial/checkpoint-",
        "To resume:\n  hone train tiny --data 'synth:lookup?n=300&test=60' ", " --resume\n"})
    EXPECT_NE(ending.messages.find(fragment), std::string::npos) << fragment << ending.messages;
  EXPECT_FALSE(fs::exists(folder() / "stopped"));
  run_well(training({"-o", "stopped", "--resume"}), folder());
  EXPECT_TRUE(weights("stopped") == weights("whole"));
}

TEST_F(Resume, RefusesAnotherRunAndNamesTheDifferences) {
  run_hone_until(training({"-o", "changed"}), folder(), SIGTERM,
                 [&] { return fs::exists(folder() / "changed.partial/checkpoint-3"); });
  const std::vector<std::string> before = entries(folder() / "changed.partial");
  const auto expect_difference = [&](const std::string& fragment, std::vector<std::string> words) {
    words.insert(words.begin(), {"-o", "changed", "--resume"});
    const Ending ending = run_hone(training(words), folder());
    EXPECT_EQ(ending.code, 1);
    EXPECT_NE(ending.messages.find(fragment), std::string::npos) << ending.messages;
  };
  expect_difference("\n  --lr: 5e-05 then, 0.001 now", {"--lr", "1e-3"});
  expect_difference("\n  --seed: 42 then, 7 now", {"--seed", "7"});
  expect_difference("\n  the training texts: 270 texts, fingerprint", {"--max_seq_length", "20"});
  expect_difference("\n  --truncation: ", {"--truncation", "tail"});
  EXPECT_EQ(entries(folder() / "changed.partial"), before);
  // Options that do not affect the result may change.
  run_well(training({"-o", "changed", "--resume", "--threads", "1", "--save_total_limit", "5"}),
           folder());
  EXPECT_TRUE(weights("changed") == weights("whole"));
}

TEST_F(Resume, OfARunThatWasInterruptedIsNeverAnAccident) {
  run_hone_until(training({"-o", "left"}), folder(), SIGKILL,
                 [&] { return fs::exists(folder() / "left.partial/checkpoint-3"); });
  const Ending again = run_hone(training({"-o", "left"}), folder());
  EXPECT_EQ(again.code, 1);
  EXPECT_NE(again.messages.find("continue it with --resume, or start again with --overwrite"),
            std::string::npos)
      << again.messages;
  EXPECT_TRUE(fs::exists(folder() / "left.partial/checkpoint-3"));
}

// Queues may submit the same command repeatedly: it starts, resumes, or finds that it is finished.
TEST_F(Resume, BeginsWhereThereIsNothingAndEndsWhereAllIsDone) {
  const std::vector<std::string> line = training({"-o", "queued", "--resume"});
  run_well(line, folder());
  EXPECT_TRUE(weights("queued") == weights("whole"));
  const fs::file_time_type then = fs::last_write_time(folder() / "queued/record.json");
  const Ending again = run_well(line, folder());
  EXPECT_EQ(again.output, "queued: this run is finished already; there is nothing left to do\n");
  EXPECT_EQ(fs::last_write_time(folder() / "queued/record.json"), then);
  EXPECT_FALSE(fs::exists(folder() / "queued.partial"));
  // It prints the result for scripts.
  EXPECT_EQ(run_json(line, folder()), read_json(folder() / "queued/results.json"));
  // A run with other options is refused.
  const Ending other = run_hone(training({"-o", "queued", "--resume", "--seed", "7"}), folder());
  EXPECT_EQ(other.code, 1);
  EXPECT_NE(other.messages.find("queued: contains another finished run:\n  --seed: 42 then, 7 now"),
            std::string::npos)
      << other.messages;
  run_well(training({"-o", "queued", "--resume", "--seed", "7", "--overwrite"}), folder());
  EXPECT_FALSE(weights("queued") == weights("whole"));
}

TEST_F(Resume, OfATrainingThatDivergedSaysSoAtOnce) {
  const Ending first = run_hone(
      {"train", "tiny", "--data", "synth:lookup?n=300&test=60", "--max_steps", "12", "--save_steps",
       "1", "--batch_size", "4", "--lr", "1e37", "--warmup_steps", "1", "-o", "diverged"},
      folder());
  EXPECT_EQ(first.code, 1);
  for (const char* fragment :
       {"diverged.partial: train: training diverged at step 3: loss nan, gradient norm nan; try a "
        "lower --lr than 1e+37\n",
        "The last checkpoint, of step 1, is diverged.partial/checkpoint-1: a model",
        "--resume would continue from there and fail in the same way; start again with other"})
    EXPECT_NE(first.messages.find(fragment), std::string::npos) << fragment << first.messages;
  const std::vector<std::string> before = entries(folder() / "diverged.partial");
  EXPECT_EQ(before, (std::vector<std::string>{"checkpoint-1", "record.json", kWrittenFiles}));
  // Whatever the other arguments are, it does not even look for the data.
  for (const char* data : {"synth:lookup?n=300&test=60", "none.csv"}) {
    const Ending again = run_hone(
        {"train", "tiny", "--data", data, "-o", "diverged", "--lr", "1", "--resume"}, folder());
    EXPECT_EQ(again.code, 1);
    EXPECT_TRUE(first.messages.ends_with(again.messages)) << again.messages;
    EXPECT_TRUE(again.messages.starts_with("error: diverged.partial: ")) << again.messages;
  }
  EXPECT_EQ(entries(folder() / "diverged.partial"), before);
  const Json listed = run_json({"runs", "diverged"}, folder());
  EXPECT_EQ(listed["runs"][0]["state"], "unfinished") << listed;
  run_well(training({"-o", "diverged", "--overwrite"}), folder());
  EXPECT_TRUE(weights("diverged") == weights("whole"));
}

// Results of earlier seeds are kept.
TEST_F(Resume, OfSeedsOneOfWhichDivergedNamesIt) {
  const std::vector<std::string> line = training({"--seeds", "2", "-o", "one-of-two"});
  const fs::path partial = folder() / "one-of-two.partial";
  run_hone_until(line, folder(), SIGINT,
                 [&] { return fs::exists(partial / "seed-43/checkpoint-3"); });
  if (!fs::exists(partial)) GTEST_SKIP() << "it was done before the signal came";
  // Replaces the saved weights with some that overflow at once.
  const fs::path saved = partial / "seed-43";
  for (const std::string& name : entries(saved))
    if (name.starts_with("checkpoint-")) {
      Safetensors file = read_safetensors(saved / name / "model.safetensors");
      for (auto& [tensor_name, tensor] : file.tensors)
        if (tensor_name == "classifier.weight") {
          tensor = tensor.contiguous_copy();
          for (float& weight : tensor.values<float>()) weight = 3e38f;
        }
      write_safetensors(saved / name / "model.safetensors", file.tensors, file.metadata);
    }
  std::vector<std::string> resumed = line;
  resumed.push_back("--resume");
  const Ending ending = run_hone(resumed, folder());
  EXPECT_EQ(ending.code, 1);
  EXPECT_NE(ending.messages.find("one-of-two.partial: train seed 43: training diverged at step "),
            std::string::npos)
      << ending.messages;
  EXPECT_TRUE(fs::exists(partial / "seed-42/results.json"));
  EXPECT_EQ(run_hone(resumed, folder()).messages.find("one-of-two.partial: train seed 43"), 7u);
}

TEST_F(Resume, OfEveryJobEndsWhereAllIsDone) {
  const std::vector<std::string> data = {"--data", "synth:lookup?n=300&test=60", "--max_steps", "2",
                                         "--resume"};
  const std::vector<std::vector<std::string>> jobs = {
      {"quantize", "whole", "--format", "int(bits=4)", "-o", "done-ptq"},
      {"quantize", "whole", "--qat", "--seeds", "2", "--format", "int(bits=4)", "-o", "done-qat"},
      {"widths", "whole", "--widths", "8.4", "-o", "done-widths"}};
  for (std::vector<std::string> words : jobs) {
    words.insert(words.end(), data.begin(), data.end());
    EXPECT_EQ(run_well(words, folder()).output.find("finished already"), std::string::npos);
    EXPECT_NE(run_well(words, folder()).output.find("finished already"), std::string::npos);
  }
}

// The differing options alone would not tell.
TEST_F(Resume, NamesTheCommandThatMadeTheFolder) {
  const std::vector<std::string> data = {"--data", "synth:lookup?n=300&test=60", "--max_steps",
                                         "2"};
  const std::vector<std::vector<std::string>> jobs = {
      {"train", "whole", "-o", "of-train"},
      {"quantize", "whole", "--format", "int(bits=4)", "-o", "of-quantize"},
      {"widths", "whole", "--widths", "8.4", "-o", "of-widths"}};
  for (std::vector<std::string> job : jobs) {
    job.insert(job.end(), data.begin(), data.end());
    run_well(job, folder());
  }
  run_well({"eval", "whole", data[0], data[1], "-o", "of-eval"}, folder());
  const auto expect_refusal = [&](std::vector<std::string> job, const std::string& maker) {
    job.back() = "of-" + maker;
    job.insert(job.end(), data.begin(), data.end());
    job.emplace_back("--resume");
    const Ending ending = run_hone(job, folder());
    // A report never replaces a model, resumed or not.
    const bool report = job[0] == "widths" && maker != "eval";
    EXPECT_EQ(ending.code, report ? 2 : 1);
    EXPECT_NE(ending.messages.find(
                  report ? fmt::format("of-{}: holds a model made by `hone {}`", maker, maker)
                         : fmt::format("of-{}: was made by `hone {}`, so `hone {}` cannot resume "
                                       "it\nGive another output folder, or --overwrite",
                                       maker, maker, job[0])),
              std::string::npos)
        << ending.messages;
  };
  for (const auto& job : jobs)
    for (const char* maker : {"train", "quantize", "widths", "eval"})
      if (job[0] != maker) expect_refusal(job, maker);
}

TEST_F(Resume, NamesTheCommandThatWasInterrupted) {
  run_hone_until(training({"-o", "stopped-training"}), folder(), SIGKILL,
                 [&] { return fs::exists(folder() / "stopped-training.partial/checkpoint-3"); });
  const Ending ending = run_hone(
      {"quantize", "whole", "--qat", "--format", "int(bits=4)", "--data",
       "synth:lookup?n=300&test=60", "--max_steps", "2", "--resume", "-o", "stopped-training"},
      folder());
  EXPECT_EQ(ending.code, 1);
  EXPECT_NE(ending.messages.find("stopped-training.partial: was made by `hone train`, so `hone "
                                 "quantize` cannot resume it"),
            std::string::npos)
      << ending.messages;
  // Mistakes in the command are reported before conflicts with the output folder.
  const auto refusal = [&](const char* data) {
    return run_hone({"quantize", "whole", "--qat", "--format", "int(bits=4)", "--data", data,
                     "--max_steps", "2", "-o", "stopped-training"},
                    folder())
        .messages;
  };
  const std::string wrong = refusal("nowhere.csv"), right = refusal("synth:lookup?n=300&test=60");
  EXPECT_NE(wrong.find("nowhere.csv"), std::string::npos) << wrong;
  EXPECT_EQ(wrong.find("stopped-training"), std::string::npos) << wrong;
  EXPECT_NE(right.find("stopped-training.partial: `hone train` was interrupted"), std::string::npos)
      << right;
}

// Resuming does not make a failed gate pass.
TEST_F(Resume, OfAJobThatFailedItsGateFailsItAgain) {
  const std::vector<std::string> words = {
      "quantize",   "whole", "--format", "int(bits=2)",
      "--max_drop", "0.1",   "--data",   "synth:lookup?n=300&test=60",
      "--resume",   "-o",    "gate"};
  const Ending first = run_hone(words, folder()), second = run_hone(words, folder());
  ASSERT_EQ(first.code, 3) << first.messages;
  EXPECT_EQ(second.code, 3) << second.messages;
  EXPECT_NE(second.output.find("finished already"), std::string::npos) << second.output;
}

TEST_F(Resume, LeavesTheCheckpointsAskedForWithoutTheirMoments) {
  const auto checkpoints = [&](const std::string& model) {
    std::vector<std::string> names;
    for (const std::string& name : entries(folder() / model))
      if (name.starts_with("checkpoint-")) names.push_back(name);
    return names;
  };
  const auto moments = [&](const std::string& model, const std::string& checkpoint) {
    return fs::exists(folder() / model / checkpoint / "optimizer.safetensors");
  };
  run_well(training({"-o", "one", "--save_total_limit", "1", "--eval_steps", "3"}), folder());
  std::vector<std::string> expected = {"checkpoint-12"};
  const Json state = read_json(folder() / "one/checkpoint-12/trainer_state.json");
  const std::string best = fmt::format("checkpoint-{}", state["best_global_step"].get<int>());
  if (best != expected[0]) expected.push_back(best);
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(checkpoints("one"), expected);
  for (const std::string& name : expected) {
    EXPECT_FALSE(moments("one", name)) << name;
    run_well({"eval", "one/" + name, "--data", "synth:lookup?n=50"}, folder());
  }
  run_well(training({"-o", "all", "--save_optimizer_state"}), folder());
  EXPECT_EQ(checkpoints("all").size(), 2u);
  for (const std::string& name : checkpoints("all")) EXPECT_TRUE(moments("all", name)) << name;
}

// This many texts take seconds. The signal comes early, but after the program has surely started.
TEST_F(Resume, IsNotOfferedWhereNothingIsSaved) {
  const auto start = std::chrono::steady_clock::now();
  const Ending ending = run_hone_until(
      {"eval", "whole", "--data", "synth:lookup?n=50000"}, folder(), SIGINT,
      [&] { return std::chrono::steady_clock::now() - start > std::chrono::milliseconds(1500); });
  EXPECT_EQ(ending.code, 130) << ending.messages;
  EXPECT_EQ(ending.output, "");
  EXPECT_NE(ending.messages.find("interrupted\n"), std::string::npos) << ending.messages;
  EXPECT_EQ(ending.messages.find("To go on"), std::string::npos) << ending.messages;
}

TEST_F(Resume, OfQuantizationAwareTrainingGivesTheSameBits) {
  std::vector<std::string> qat = {"quantize",
                                  "whole",
                                  "--qat",
                                  "--format",
                                  "int(bits=4,scale=learned)",
                                  "--data",
                                  "synth:lookup?n=300&test=60",
                                  "--max_steps",
                                  "6",
                                  "--save_steps",
                                  "2",
                                  "--batch_size",
                                  "4"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), qat.begin(), qat.end());
    return more;
  };
  run_well(with({"-o", "qat"}), folder());
  const Ending ending = run_hone_until(with({"-o", "qat-killed"}), folder(), SIGKILL, [&] {
    return fs::exists(folder() / "qat-killed.partial/checkpoint-2");
  });
  if (ending.code != 0) run_well(with({"-o", "qat-killed", "--resume"}), folder());
  EXPECT_TRUE(weights("qat-killed") == weights("qat"));
}

TEST_F(Resume, OfSeedsRepeatsNoneThatIsDone) {
  const std::vector<std::string> seeds = training({"--seeds", "3", "-o", "seeds"});
  const fs::path partial = folder() / "seeds.partial";
  run_hone_until(seeds, folder(), SIGKILL,
                 [&] { return fs::exists(partial / "seed-43/checkpoint-3"); });
  std::vector<std::string> resumed = seeds;
  resumed.push_back("--resume");
  const Ending ending = run_well(resumed, folder());
  EXPECT_EQ(ending.messages.find("train seed 42"), std::string::npos) << ending.messages;
  EXPECT_NE(ending.messages.find("train seed 44"), std::string::npos) << ending.messages;
  const Json results = read_json(folder() / "seeds/results.json");
  EXPECT_EQ(results["seeds"], 3);
  EXPECT_TRUE(weights("seeds/seed-42") == weights("whole"));
  EXPECT_FALSE(weights("seeds/seed-43") == weights("whole"));
}

TEST_F(Resume, OfAStudyRepeatsNoTrainingThatIsDone) {
  const auto study = [](const std::string& output, std::vector<std::string> more) {
    std::vector<std::string> words = {
        "widths",      "whole", "--widths", "6.3,8.4",
        "--max_steps", "2",     "--data",   "synth:lookup?n=300&test=60",
        "-o",          output,  "--json"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  const Ending whole = run_well(study("study-whole", {}), folder());
  const fs::path partial = folder() / "study.partial";
  const Ending killed = run_hone_until(study("study", {}), folder(), SIGINT, [&] {
    return fs::exists(partial / "trainings/qat-6.3/checkpoint-2");
  });
  EXPECT_EQ(killed.code, 130) << killed.messages;
  EXPECT_NE(killed.messages.find("To resume:\n  hone widths whole "), std::string::npos)
      << killed.messages;
  const Ending resumed = run_well(study("study", {"--resume"}), folder());
  EXPECT_EQ(without_times(parse_json(resumed.output, "resumed")),
            without_times(parse_json(whole.output, "whole")));
  // No trainings are left behind.
  EXPECT_EQ(entries(folder() / "study"), entries(folder() / "study-whole"));
  EXPECT_FALSE(fs::exists(folder() / "study/trainings"));
}

// 50 kills at random moments, in as many runs as needed.
TEST_F(Resume, LongManyKillsGiveTheSameBits) {
  const auto command = [](const std::string& output) {
    return std::vector<std::string>{
        "train",        "tiny", "--data",       "synth:lookup?n=300&test=60",
        "--max_steps",  "150",  "--batch_size", "4",
        "--save_steps", "2",    "--quiet",      "-o",
        output};
  };
  run_well(command("many-whole"), folder());
  expect_same_after_kills(50, folder(), command, [](const std::string& name) {
    return weights(name) == weights("many-whole");
  });
}

TEST_F(Resume, OfALabGoesOnBehindItsLastStage) {
  const std::vector<std::string> line = {
      "lab", "4.3", "--model", "whole", "--data", "synth:lookup?n=300&test=60", "-o", "lab"};
  const fs::path stage = folder() / "lab.partial/stages/decode.json";
  const Ending ending = run_hone_until(line, folder(), SIGINT, [&] { return fs::exists(stage); });
  ASSERT_EQ(ending.code, 130) << ending.messages;
  EXPECT_NE(ending.messages.find("To resume:\n  hone lab 4.3 --model whole "), std::string::npos)
      << ending.messages;
  EXPECT_FALSE(fs::exists(folder() / "lab"));
  const Json times = read_json(stage)["found"]["times"];
  std::vector<std::string> again = line;
  again.emplace_back("--resume");
  const Ending resumed = run_well(again, folder());
  EXPECT_NE(resumed.messages.find("1 decode: times the decoder on 9 arrays"), std::string::npos);
  EXPECT_NE(resumed.messages.find(", done before"), std::string::npos) << resumed.messages;
  EXPECT_EQ(read_json(folder() / "lab/results.json")["decode"]["times"], times);
  EXPECT_FALSE(fs::exists(folder() / "lab/stages"));
}

}  // namespace
}  // namespace hone::testing
