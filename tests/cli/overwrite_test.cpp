#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/mount.h>

#include <map>

#include "hone/base/folder_record.h"
#include "hone/base/text.h"
#include "tests/cli/run_hone.h"
#include "tests/support/expect.h"

// Tests of output paths that exist already.
namespace hone::testing {
namespace {

using Words = std::vector<std::string>;

/// Returns everything in a folder by path: the contents of files, "" for folders.
std::map<std::string, std::string> snapshot(const fs::path& folder) {
  std::map<std::string, std::string> all;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    all[fs::relative(entry.path(), folder).string()] =
        entry.is_regular_file() ? read_file(entry.path()) : "";
  return all;
}

Words joined(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

const Words kTrain = {"train",       "model", "--data",       "reviews.csv",
                      "--max_steps", "2",     "--batch_size", "4"};

/// A copy of the workshop, for tests to damage.
class Overwrite : public ::testing::Test {
 protected:
  Overwrite() {
    fs::copy(workshop(), folder_.path(), fs::copy_options::recursive);
    fs::create_directory(at("data"));
    fs::copy(at("reviews.csv"), at("data/train.csv"));
  }
  const fs::path& folder() const { return folder_.path(); }
  fs::path at(const fs::path& path) const { return folder_.path() / path; }

  /// Expects a refusal that changes nothing, with and without --overwrite.
  void expect_refusal(const std::string& fragment, const Words& words, fs::path in = {}) const {
    if (in.empty()) in = folder();
    const auto before = snapshot(folder());
    for (const Words& flag : {Words{}, Words{"--overwrite"}}) {
      const Ending ending = run_hone(joined(words, flag), in);
      EXPECT_EQ(ending.code, 1) << ending.messages;
      EXPECT_NE(ending.messages.find(fragment), std::string::npos)
          << "expected '" << fragment << "' of hone " << fmt::format("{}", fmt::join(words, " "))
          << "\n"
          << ending.messages;
      EXPECT_EQ(ending.messages.find("note:"), std::string::npos) << ending.messages;
      EXPECT_TRUE(snapshot(folder()) == before);
    }
  }

 private:
  TemporaryFolder folder_;
};

// Neither model nor data exists. A command that looked for them first would report that.
TEST_F(Overwrite, RefusesAThesisBeforeAnyWork) {
  fs::create_directory(at("thesis"));
  write_file(at("thesis/thesis.tex"), "years");
  for (const Words& command :
       {Words{"train", "none", "--data", "none.csv"}, Words{"eval", "none", "--data", "none.csv"},
        Words{"quantize", "none", "--format", "bf16", "--data", "none.csv"},
        Words{"widths", "none", "--data", "none.csv"},
        Words{"compare", "none", "none", "--data", "none.csv"},
        Words{"compare-formats", "none", "--data", "none.csv"}, Words{"convert", "none"}}) {
    expect_refusal("thesis: exists already and has no record.json of this program",
                   joined(command, {"-o", "thesis"}));
    expect_refusal(".: is the current directory", joined(command, {"-o", "."}));
    expect_refusal("the current directory", joined(command, {"-o", ".."}), at("data"));
  }
}

// "exists already" would hide the real mistake.
TEST_F(Overwrite, NamesAMissingInputBeforeAFolderOfHone) {
  run_well(joined(kTrain, {"-o", "run"}), folder());
  const Ending model = run_hone({"train", "modle", "--data", "reviews.csv", "-o", "run"}, folder());
  EXPECT_NE(model.messages.find("modle: no such model folder; did you mean 'model'?"),
            std::string::npos)
      << model.messages;
  const Ending data = run_hone({"train", "model", "--data", "reveiws.csv", "-o", "run"}, folder());
  EXPECT_NE(data.messages.find("no such file or folder; did you mean 'reviews.csv'?"),
            std::string::npos)
      << data.messages;
  const Ending teacher = run_hone({"prune", "model", "--sparsity", "0.5", "--distill", "model",
                                   "--data", "reviews.csv", "-o", "run"},
                                  folder());
  EXPECT_NE(teacher.messages.find("--distill needs training"), std::string::npos)
      << teacher.messages;
}

TEST_F(Overwrite, RefusesWhatItReads) {
  expect_refusal("model is the model model, which this command reads",
                 joined(kTrain, {"-o", "model"}));
  expect_refusal("model/inside is inside the model model", joined(kTrain, {"-o", "model/inside"}));
  expect_refusal("reviews.csv is the data reviews.csv", joined(kTrain, {"-o", "reviews.csv"}));
  const Words trained = {"train", "tiny", "--max_steps", "2"};
  expect_refusal("data is the data data", joined(trained, {"--data", "data", "-o", "data/"}));
  expect_refusal("data is the data data",
                 joined(trained, {"--data", "data", "-o", "model/../data"}));
  expect_refusal("data contains the data data/train.csv",
                 joined(trained, {"--data", "data/train.csv", "-o", "data"}));
  expect_refusal("data contains the data data/tr*.csv",
                 joined(trained, {"--data", "data/tr*.csv", "-o", "data"}));
  expect_refusal("data/out is inside the data data",
                 joined(trained, {"--data", "data", "-o", "data/out"}));
  // The temporary folder is protected, too.
  fs::copy(at("model"), at("new.partial"), fs::copy_options::recursive);
  expect_refusal("new.partial is the model new.partial",
                 {"train", "new.partial", "--data", "reviews.csv", "-o", "new"});
  // A folder written by hone that contains a recipe, a plugin and a link to the data.
  write_file(at("model/recipe.toml"), "default = \"bf16\"\n");
  expect_refusal("model contains the file model/recipe.toml",
                 {"quantize", "data", "--recipe", "model/recipe.toml", "--data", "reviews.csv",
                  "-o", "model"});
  expect_refusal("model contains the file model/config.json",
                 {"eval", "tiny", "--plugin", "model/config.json", "--data", "synth:lookup?n=9",
                  "-o", "model"});
  fs::create_directory(at("linked"));
  fs::rename(at("data/train.csv"), at("model/train.csv"));
  fs::create_symlink(at("model/train.csv"), at("linked/train.csv"));
  expect_refusal("model contains the data linked",
                 joined(trained, {"--data", "linked", "-o", "model"}));
}

TEST_F(Overwrite, RefusesTheRunsItReads) {
  run_well(joined(kTrain, {"-o", "run"}), folder());
  expect_refusal("run is the run run", {"runs", "run", "model", "--html", "run"});
  expect_refusal("run is the run run", {"runs", "ru?", "--html", "run/"});
  expect_refusal("run/report.html is inside the run run",
                 {"runs", "run", "--html", "run/report.html"});
  expect_refusal("run is the run ./run", {"runs", ".", "--html", "run"});
}

// The pattern would include the output in the next run.
TEST_F(Overwrite, RefusesNamesThatTheDataStandFor) {
  expect_refusal("data/tr-said.csv matches data/tr*.csv, the data that this command reads",
                 {"predict", "model", "--data", "data/tr*.csv", "-o", "data/tr-said.csv"});
}

TEST_F(Overwrite, KnowsAModelOfTheHubByItsPlaceInTheCache) {
  const fs::path snapshot_folder = at("cache/models--me--mine/snapshots/abc");
  fs::create_directories(snapshot_folder.parent_path());
  fs::rename(at("model"), snapshot_folder);
  fs::create_directories(at("cache/models--me--mine/refs"));
  write_file(at("cache/models--me--mine/refs/main"), "abc");
  ::setenv("HF_HUB_CACHE", at("cache").c_str(), 1);
  const Words words = {"train", "me/mine", "--data", "reviews.csv", "--max_steps", "1", "-o"};
  expect_refusal("abc is the model me/mine", joined(words, {snapshot_folder.string()}));
  expect_refusal("cache contains the model me/mine", joined(words, {"cache"}));
  expect_refusal("is inside the model me/mine",
                 joined(words, {(snapshot_folder / "new").string()}));
  ::unsetenv("HF_HUB_CACHE");
}

TEST_F(Overwrite, RefusesHomesAndMountPoints) {
  const char* home = ::getenv("HOME");
  const std::string before = home == nullptr ? "" : home;
  ::setenv("HOME", at("data").c_str(), 1);
  const Words train = {"train",       "tiny", "--data", "synth:lookup?n=99&test=60",
                       "--max_steps", "1",    "-o"};
  expect_refusal("is a home", joined(train, {"data"}));
  ::setenv("HOME", before.c_str(), 1);
  fs::create_directory(at("disk"));
  if (::mount("tmpfs", at("disk").c_str(), "tmpfs", 0, "size=1M") != 0)
    GTEST_SKIP() << "no right to mount a disk";
  expect_refusal("is a mount point", joined(train, {"disk"}));
  ::umount2(at("disk").c_str(), MNT_DETACH);
}

TEST_F(Overwrite, ReplacesItsOwnFolderAndLosesNothingOfOthers) {
  run_well(joined(kTrain, {"-o", "new"}), folder());
  const std::string expected = read_file(at("new/config.json"));
  write_file(at("new/config.json"), "{\"mine\": 1}");
  write_file(at("new/thesis.tex"), "years");
  fs::create_directory(at("new/figures"));
  write_file(at("new/figures/one"), "a figure");
  const Ending ending = run_well(joined(kTrain, {"-o", "new", "--overwrite"}), folder());
  EXPECT_EQ(read_file(at("new/config.json")), expected);
  EXPECT_EQ(read_file(at("new/config.json.kept")), "{\"mine\": 1}");
  EXPECT_EQ(read_file(at("new/thesis.tex")), "years");
  EXPECT_EQ(read_file(at("new/figures/one")), "a figure");
  for (const char* sentence :
       {"note: new/config.json: was changed since this program wrote it; kept as "
        "new/config.json.kept",
        "note: new/thesis.tex: was not written by this program; kept as new/thesis.tex"})
    EXPECT_NE(ending.messages.find(sentence), std::string::npos) << ending.messages;
  EXPECT_EQ(entries(folder()), (Words{"data", "model", "new", "reviews.csv"}));
}

// A report never replaces a trained model.
TEST_F(Overwrite, PutsNoReportInThePlaceOfAModel) {
  run_well(joined(kTrain, {"-o", "precious"}), folder());
  run_well({"train", "model", "--data", "reviews.csv", "--max_steps", "1", "--seeds", "2", "-o",
            "seeds"},
           folder());
  const auto before = snapshot(folder());
  const std::vector<Words> reports = {
      {"eval", "model", "--data", "reviews.csv", "-o"},
      {"compare", "model", "model", "--data", "reviews.csv", "-o"},
      {"runs", "model", "--html"},
      {"widths", "model", "--widths", "8.4", "--data", "reviews.csv", "-o"},
      {"compare-formats", "model", "--data", "reviews.csv", "-o"}};
  for (const Words& report : reports)
    for (const char* model : {"precious", "seeds"}) {
      const Ending ending = run_hone(joined(report, {model, "--overwrite"}), folder());
      EXPECT_EQ(ending.code, 2) << ending.messages;
      EXPECT_NE(ending.messages.find(fmt::format(
                    "error: {}: holds a model made by `hone train`, and `hone {}` makes none that "
                    "could take its place",
                    model, report[0])),
                std::string::npos)
          << ending.messages;
    }
  EXPECT_TRUE(snapshot(folder()) == before);
  run_well({"quantize", "model", "--format", "int(bits=8)", "--data", "reviews.csv", "-o",
            "precious", "--overwrite"},
           folder());
  run_well(joined(reports[0], {"report"}), folder());
  run_well(joined(reports[1], {"report", "--overwrite"}), folder());
}

// --overwrite would treat a file that a job creates without claiming it as somebody else's.
TEST_F(Overwrite, JobsRecordEveryFileTheyLeave) {
  const Words steps = {"--data", "reviews.csv", "--max_steps", "2", "--batch_size", "4"};
  write_file(at("bits.toml"),
             "maximize = 'accuracy - 0.01*average_bits'\n"
             "[[precision]]\nchoice = 'together'\nformats = ['none', 'int(bits=8)']\n");
  const std::map<std::string, Words> jobs = {
      {"trained", joined({"train", "model", "--report_to", "tensorboard"}, steps)},
      {"seeds", joined({"train", "model", "--seeds", "2"}, steps)},
      {"qat",
       joined({"quantize", "model", "--qat", "--explain", "--format", "int(bits=4)"}, steps)},
      {"widths", joined({"widths", "model", "--widths", "8.4"}, steps)},
      {"shrunk",
       {"shrink", "model", "--only", "quantize", "--goal", "size", "--max_evaluations", "1",
        "--max_drop", "99", "--data", "reviews.csv"}},
      {"native",
       joined({"quantize", "model", "--native", "int(bits=8,per=row)"}, {"--data", "reviews.csv"})},
      {"pruned", joined({"prune", "model", "--sparsity", "0.5"}, steps)},
      {"allocated",
       {"allocate", "model", "--formats", "int(bits=8),none", "--budget", "average_bits<=9",
        "--candidates", "2", "--swaps", "1", "--no_cache", "--data", "reviews.csv"}},
      {"searched",
       {"search", "model", "--recipe", "bits.toml", "--trials", "2", "--workers", "2", "--no_cache",
        "--data", "reviews.csv"}},
      {"packed", {"pack", "model", "--weight_format", "mxint(bits=8)"}}};
  for (const auto& [name, words] : jobs) {
    run_well(joined(words, {"-o", name}), folder());
    const std::optional<FolderRecord> record = read_record(at(name));
    ASSERT_TRUE(record && record->finished) << name;
    // Packing is too quick to be resumable.
    EXPECT_EQ(record->job.is_object(), name != "packed") << name;
    expect_all_recorded(at(name));
    for (const auto& [path, file] : record->files)
      EXPECT_NE(fs::path(path).filename(), "optimizer.safetensors");
  }
}

TEST_F(Overwrite, OfOneFolderIsDoneByOneProcess) {
  const Words words = {"train",        "tiny", "--data",       "synth:lookup?n=300&test=60",
                       "--max_steps",  "400",  "--save_steps", "2",
                       "--batch_size", "4",    "-o",           "new"};
  std::string message;
  run_hone_until(words, folder(), SIGKILL, [&] {
    if (!fs::exists(at("new.partial/checkpoint-2"))) return false;
    message = run_hone(joined(words, {"--overwrite"}), folder()).messages;
    return true;
  });
  EXPECT_NE(message.find("new.partial: another process is using it"), std::string::npos) << message;
}

TEST_F(Overwrite, OfFilesIsAskedFor) {
  const Words draw = {"draw", "model", "-o", "graph.dot"};
  write_file(at("graph.dot"), "mine");
  const Ending refused = run_hone(draw, folder());
  EXPECT_EQ(refused.code, 1);
  EXPECT_NE(refused.messages.find("graph.dot: exists already; give another name or --overwrite"),
            std::string::npos)
      << refused.messages;
  EXPECT_EQ(read_file(at("graph.dot")), "mine");
  run_well(joined(draw, {"--overwrite"}), folder());
  EXPECT_NE(read_file(at("graph.dot")), "mine");
  // Inputs are never overwritten, even with --overwrite.
  expect_refusal("model/model.safetensors is the file model/model.safetensors",
                 {"formats", "bf16", "--input", "model/model.safetensors", "-o",
                  "model/../model/model.safetensors"});
  expect_refusal("model/graph.dot is inside the model model",
                 {"draw", "model", "-o", "model/graph.dot"});
}

}  // namespace
}  // namespace hone::testing
