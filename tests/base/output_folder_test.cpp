#include "hone/base/output_folder.h"

#include <fmt/chrono.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>

#include "hone/base/protected_folders.h"
#include "tests/support/expect.h"

namespace hone {
namespace {

using Names = std::vector<std::string>;

Names names_in(const fs::path& folder) {
  Names names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

OutputFolderOptions options(bool overwrite = false) { return {.overwrite = overwrite}; }
// Jobs of these tests can resume from "moments".
OutputFolderOptions resumable(bool resume = false, bool overwrite = false) {
  return {.overwrite = overwrite,
          .resumable = true,
          .resume = resume,
          .progress = {"*moments"},
          .scaffolding = {"*moments"}};
}

// Maps file names to contents.
using Files = std::map<std::string, std::string>;

// Writes files as hone does.
void fill(const fs::path& folder, const Files& files) {
  for (const auto& [name, text] : files) {
    fs::create_directories((folder / name).parent_path());
    write_file(folder / name, text);
  }
}

// Writes files as other programs do.
void fill_from_outside(const fs::path& folder, const Files& files) {
  for (const auto& [name, text] : files) {
    fs::create_directories((folder / name).parent_path());
    std::ofstream(folder / name) << text;
  }
}

// Runs `body` in a child process that exits without running destructors.
template <typename Body>
void run_killed(Body&& body) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    try {
      body();
    } catch (...) {
      ::_exit(1);
    }
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
}

Files files_in(const fs::path& folder) {
  Files files;
  for (const fs::path& path : files_below(folder))
    if (path != kRecordFile && path != kWrittenFiles)
      files[path.string()] = read_file(folder / path);
  return files;
}

void make(const fs::path& path, const Files& files, bool overwrite = false) {
  OutputFolder out(path, options(overwrite));
  fill(out.path(), files);
  out.commit();
}

// Returns what `body` prints on standard error.
template <typename Body>
std::string messages_of(Body&& body) {
  ::testing::internal::CaptureStderr();
  body();
  return ::testing::internal::GetCapturedStderr();
}

TEST(OutputFolder, AppearsOnCommitOnly) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "model";
  {
    OutputFolder out(path, options());
    write_file(out.path() / "x", "text");
    EXPECT_FALSE(fs::exists(path));
    out.commit();
  }
  EXPECT_EQ(names_in(folder.path()), Names{"model"});
  EXPECT_EQ(read_file(path / "x"), "text");
}

TEST(OutputFolder, VanishesWithoutCommit) {
  const TemporaryFolder folder;
  {
    OutputFolder out(folder.path() / "model", options());
    write_file(out.path() / "x", "text");
    OutputFolder deep(folder.path() / "a" / "b" / "c", options());
    write_file(deep.path() / "x", "text");
  }
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST(OutputFolder, RecordsEveryFileItWrote) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "model";
  make(path, {{"x", "text"}, {"inner/y", ""}});
  const std::optional<FolderRecord> record = read_record(path);
  ASSERT_TRUE(record.has_value());
  EXPECT_TRUE(record->finished);
  ASSERT_EQ(record->files.size(), 2u);
  EXPECT_EQ(record->files.at("x"), recorded(path / "x"));
  EXPECT_EQ(record->files.at("inner/y").size, 0u);
}

TEST(OutputFolder, ReplacesAnOldOneOnlyWhenAllowed) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "model";
  fs::create_directory(path);
  make(path, {{"x", "old"}, {"inner/y", "old"}});  // an empty folder may be filled
  expect_user_error("model: exists already; give another output folder or `overwrite`",
                    [&] { OutputFolder out(path, options()); });
  OutputFolder out(path, options(true));
  write_file(out.path() / "y", "text");
  EXPECT_EQ(files_in(path), (Files{{"x", "old"}, {"inner/y", "old"}}));
  EXPECT_EQ(messages_of([&] { out.commit(); }), "");
  EXPECT_EQ(files_in(path), (Files{{"y", "text"}}));
  EXPECT_EQ(names_in(path), (Names{"record.json", "y"}));
  EXPECT_EQ(names_in(folder.path()), Names{"model"});
}

TEST(OutputFolder, NamesTheInterruptedRunThatWouldReplaceIt) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "model";
  make(path, {{"x", "old"}});
  {
    OutputFolder output(path, resumable(false, /*overwrite=*/true));
    output.begin({{"seed", 1}});
    fill(output.path(), {{"moments", "2"}});
  }
  expect_user_error("`overwrite` with `resume` continues the interrupted run in " +
                        (folder.path() / "model.partial").string(),
                    [&] { OutputFolder output(path, resumable()); });
  OutputFolder output(path, resumable(/*resume=*/true, /*overwrite=*/true));
  EXPECT_TRUE(output.interrupted().has_value());
}

TEST(OutputFolder, ReplacesNoFolderThatIsNotTheProgramsOwn) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "thesis";
  // A settings file or a record of another program does not make the folder hone's.
  for (const Files& files :
       {Files{{"thesis.txt", "years"}}, Files{{"settings.json", "{\"editor\": 1}"}},
        Files{{"settings.json", "[]"}}, Files{{"record.json", "{}"}},
        Files{{"settings.json", "{\"command\": \"npm start\", \"settings\": {}}"},
              {"machine.json", "{}"}},
        Files{{"settings.json", "{\"command\": \"hone train\", \"settings\": {}}"}},
        Files{{"record.json", "{\"program\": \"another\"}"},
              {"settings.json", "{\"command\": 1, \"settings\": 2}"}},
        Files{{"config.json", "{}"}, {"model.safetensors", "weights"}}}) {
    fs::remove_all(path);
    fill(path, files);
    for (const bool overwrite : {false, true})
      expect_user_error("thesis: exists already and has no record.json of this program",
                        [&] { OutputFolder out(path, options(overwrite)); });
    expect_user_error("has no record.json of this program",
                      [&] { OutputFolder out(path, resumable(true)); });
    EXPECT_EQ(names_in(folder.path()), Names{"thesis"});
    for (const auto& [name, text] : files) EXPECT_EQ(read_file(path / name), text);
  }
}

// Without a valid record the files of the program are unknown, even if settings.json is valid.
TEST(OutputFolder, ReplacesNoFolderWithADamagedRecord) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "model";
  make(path, {{"x", "old"}});
  const std::string whole = read_file(path / "record.json");
  write_file(path / "settings.json", R"({"command": "hone train x", "settings": {},
                                        "start": "2099-01-01T00:00:00Z", "seconds": 1})");
  for (const std::string& record :
       {whole.substr(0, whole.size() / 2), std::string(), std::string("\0\0", 2),
        std::string(R"({"program": "hone", "schema_version": 1})"),
        std::string(R"({"program": "hone", "schema_version": 99})")}) {
    write_file(path / "record.json", record);
    const std::string reason =
        "model: exists already, and its record cannot be read: " + (path / "record.json").string();
    for (const bool overwrite : {false, true})
      expect_user_error(reason, [&] { OutputFolder out(path, options(overwrite)); });
    expect_user_error(reason, [&] { OutputFolder out(path, resumable(true)); });
    EXPECT_EQ(record_fault(path).substr(0, path.string().size()), path.string());
    EXPECT_FALSE(read_record(path).has_value());
    EXPECT_EQ(names_in(path), (Names{"record.json", "settings.json", "x"}));
  }
  write_file(path / "record.json", whole);
  EXPECT_EQ(record_fault(path), "");
}

TEST(OutputFolder, MovesWhatOthersPutThereOrChangedIntoTheNewOne) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "model";
  make(path, {{"x", "old"}, {"inner/x", "old"}, {"inner/y", "old"}, {"y", "old"}});
  fill(path, {{"notes.txt", "mine"},
              {"drafts/one/x", "mine"},
              {"inner/notes", "mine"},
              {"x", "mine now"},          // changed, and also in the new folder
              {"inner/x", "mine too"}});  // changed, and not in the new folder
  fs::create_symlink("/nowhere", path / "link");
  ASSERT_EQ(::mkfifo((path / "pipe").c_str(), 0600), 0);
  fs::remove(path / "y");
  fs::create_directory(path / "y");  // replaces a file of the program
  const std::string said = messages_of([&] { make(path, {{"x", "new"}}, true); });
  fs::remove(path / "pipe");
  EXPECT_TRUE(fs::is_symlink(path / "link"));
  fs::remove(path / "link");
  EXPECT_TRUE(fs::is_directory(path / "y"));
  EXPECT_EQ(files_in(path), (Files{{"x", "new"},
                                   {"x.kept", "mine now"},
                                   {"notes.txt", "mine"},
                                   {"drafts/one/x", "mine"},
                                   {"inner/notes", "mine"},
                                   {"inner/x", "mine too"}}));
  EXPECT_EQ(names_in(folder.path()), Names{"model"});
  for (const char* sentence :
       {"model/x: was changed since this program wrote it; kept as ", "model/x.kept\n",
        "model/notes.txt: was not written by this program; kept as "})
    EXPECT_NE(said.find(sentence), std::string::npos) << sentence << "\n" << said;
  // Another overwrite keeps them too. A changed file gets the next free name.
  fill(path, {{"x", "mine again"}});
  messages_of([&] { make(path, {{"x", "newer"}}, true); });
  EXPECT_EQ(read_file(path / "x"), "newer");
  EXPECT_EQ(read_file(path / "notes.txt"), "mine");
  const std::set<std::string> kept = {read_file(path / "x.kept"), read_file(path / "x.kept-2")};
  EXPECT_EQ(kept, (std::set<std::string>{"mine now", "mine again"}));
}

TEST(OutputFolder, RefusesFiles) {
  const TemporaryFolder folder;
  const fs::path path = folder.file("model", "text");
  expect_user_error("model: is a file, not a folder",
                    [&] { OutputFolder out(path, options(true)); });
  expect_user_error("cannot create the output folder",
                    [&] { OutputFolder out(path / "inside", options()); });
  EXPECT_EQ(read_file(path), "text");
}

TEST(OutputFolder, TakesNamesWithATrailingSlashDotsAndMissingParents) {
  const TemporaryFolder folder;
  make(folder.path() / "a" / "b" / "", {{"x", "text"}});
  EXPECT_EQ(read_file(folder.path() / "a" / "b" / "x"), "text");
  make(folder.path() / "a" / ".." / "c", {{"x", "text"}});
  EXPECT_EQ(names_in(folder.path()), (Names{"a", "c"}));
  expect_user_error("the output folder has no name", [] { OutputFolder out("", options()); });
}

TEST(OutputFolder, GoesWhereALinkLeads) {
  const TemporaryFolder folder;
  fs::create_directories(folder.path() / "disk" / "model");
  const fs::path link = folder.path() / "link";
  fs::create_directory_symlink(folder.path() / "disk" / "model", link);
  make(link, {{"x", "text"}});
  make(link, {{"x", "again"}}, true);
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(read_file(folder.path() / "disk" / "model" / "x"), "again");
  EXPECT_EQ(names_in(folder.path() / "disk"), Names{"model"});
  fs::create_directory_symlink(folder.path() / "none", folder.path() / "broken");
  expect_user_error("broken: is a link that cannot be followed",
                    [&] { OutputFolder out(folder.path() / "broken", options(true)); });
}

// Changes the current directory, and restores it when destroyed.
class At {
 public:
  explicit At(const fs::path& path) : before_(fs::current_path()) { fs::current_path(path); }
  ~At() { fs::current_path(before_); }
  At(const At&) = delete;
  At& operator=(const At&) = delete;

 private:
  fs::path before_;
};

TEST(OutputFolder, IsNeverTheCurrentDirectoryOrWhatHoldsIt) {
  const TemporaryFolder folder;
  const fs::path here = folder.path() / "project" / "src";
  make(folder.path() / "project", {{"x", "text"}});  // even if the program wrote it
  fs::create_directory(here);
  fs::create_directory_symlink(here, folder.path() / "link");
  const At at(here);
  for (const fs::path& path : std::vector<fs::path>{".", "./", "..", "../..", "../src", here,
                                                    folder.path() / "link", "../src/../src"})
    for (const bool overwrite : {false, true}) {
      expect_user_error("the current directory",
                        [&] { OutputFolder out(path, options(overwrite)); });
      expect_user_error("the current directory",
                        [&] { OutputFolder out(path, resumable(false, overwrite)); });
    }
  EXPECT_EQ(names_in(here), Names{});
  EXPECT_EQ(names_in(folder.path() / "project"), (Names{"record.json", "src", "x"}));
  expect_user_error("the root of the file system", [] { OutputFolder out("/", options(true)); });
}

TEST(OutputFolder, IsNeverAHomeOrWhatHoldsOne) {
  const TemporaryFolder folder;
  const fs::path home = folder.path() / "home" / "me";
  fs::create_directories(home);
  const std::string before = std::getenv("HOME") == nullptr ? "" : std::getenv("HOME");
  ::setenv("HOME", home.c_str(), 1);
  expect_user_error("me: is a home", [&] { OutputFolder out(home, options(true)); });
  expect_user_error("home: holds a home",
                    [&] { OutputFolder out(folder.path() / "home", options(true)); });
  make(home / "model", {{"x", "text"}});
  ::setenv("HOME", before.c_str(), 1);
  EXPECT_EQ(names_in(home), Names{"model"});
}

TEST(OutputFolder, IsNeverAMountPointOrWhatHoldsOne) {
  const TemporaryFolder folder;
  const fs::path point = folder.path() / "with blank" / "disk";
  fs::create_directories(point);
  if (::mount("tmpfs", point.c_str(), "tmpfs", 0, "size=1M") != 0)
    GTEST_SKIP() << "no right to mount a disk";
  expect_user_error("disk: is a mount point", [&] { OutputFolder out(point, options()); });
  expect_user_error("with blank: holds a mount point",
                    [&] { OutputFolder out(point.parent_path(), options(true)); });
  make(point / "model", {{"x", "text"}});
  EXPECT_EQ(names_in(point), Names{"model"});
  ::umount2(point.c_str(), MNT_DETACH);
}

TEST(LiesIn, SeesThroughLinksAndMissingEnds) {
  const TemporaryFolder folder;
  const fs::path a = folder.path() / "a";
  fs::create_directories(a / "b");
  fs::create_directory_symlink(a / "b", folder.path() / "link");
  EXPECT_TRUE(is_inside(a, a));
  EXPECT_TRUE(is_inside(folder.path() / "link" / "new" / "newer", a));
  EXPECT_TRUE(is_inside(a / "b" / ".." / "x", a));
  EXPECT_FALSE(is_inside(a / ".." / "x", a));
  EXPECT_FALSE(is_inside(folder.path() / "ab", a));
  EXPECT_FALSE(is_inside(a, a / "b"));
  EXPECT_FALSE(is_inside(a, folder.path() / "none"));
}

TEST(OutputFolder, KeepsWhatWasWrittenWhenItCannotMoveIt) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "model";
  make(path, {{"x", "old"}});
  fs::path written;
  {
    OutputFolder out(path, options(true));
    written = out.path();
    write_file(written / "x", "new");
    fill(path.parent_path() / "model.replaced", {{"in the way", ""}});
    const std::string message = user_error_of([&] { out.commit(); });
    EXPECT_NE(message.find("finished, but not moved into place; it is at " + written.string()),
              std::string::npos)
        << message;
  }
  EXPECT_EQ(read_file(written / "x"), "new");
  EXPECT_EQ(read_file(path / "x"), "old");
  expect_user_error("model.replaced: is in the way",
                    [&] { OutputFolder out(path, options(true)); });
}

// Two programs with one destination, neither of which may overwrite.
TEST(OutputFolder, ReplacesNothingThatAppearedMeanwhile) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "model";
  OutputFolder first(path, options()), second(path, options());
  fill(first.path(), {{"x", "first"}});
  fill(second.path(), {{"x", "second"}});
  first.commit();
  expect_user_error("has appeared meanwhile", [&] { second.commit(); });
  EXPECT_EQ(read_file(path / "x"), "first");
  EXPECT_EQ(read_file(second.path() / "x"), "second");
}

TEST(OutputFolder, PutsBackWhatAKilledProgramHadSetAside) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "model", aside = folder.path() / "model.replaced";
  make(path, {{"x", "old"}});
  // The state between the two renames.
  const fs::path made = folder.path() / ".model.1.tmp";
  fill(made, {{"x", "new"}});
  write_record({.finished = true, .replaces = recorded(path / "record.json").fingerprint}, made);
  fs::rename(path, aside);
  const std::string said = messages_of([&] {
    expect_user_error("model: exists already", [&] { OutputFolder out(path, options()); });
  });
  EXPECT_NE(said.find("restored; a run that was replacing it was stopped after setting it aside"),
            std::string::npos)
      << said;
  EXPECT_EQ(names_in(folder.path()), (Names{".model.1.tmp", "model"}));
  EXPECT_EQ(read_file(path / "x"), "old");
  EXPECT_EQ(read_file(made / "x"), "new");
}

TEST(OutputFolder, FinishesWhatAKilledProgramHadReplaced) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "model", aside = folder.path() / "model.replaced";
  make(path, {{"x", "old"}});
  fill(path, {{"notes.txt", "mine"}});
  fs::copy(path, folder.path() / "copy", fs::copy_options::recursive);
  messages_of([&] { make(path, {{"x", "new"}}, true); });
  // The state after the second rename.
  fs::remove(path / "notes.txt");
  fs::rename(folder.path() / "copy", aside);
  const std::string said = messages_of([&] {
    expect_user_error("model: exists already", [&] { OutputFolder out(path, options()); });
  });
  EXPECT_NE(said.find("finishing a replacement that a stopped run had begun"), std::string::npos)
      << said;
  EXPECT_EQ(files_in(path), (Files{{"x", "new"}, {"notes.txt", "mine"}}));
  EXPECT_EQ(names_in(folder.path()), Names{"model"});
}

TEST(OutputFolder, LeavesAFolderAloneThatIsOnlyCalledLikeOneSetAside) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "model", aside = folder.path() / "model.replaced";
  fill(aside, {{"thesis.txt", "years"}});
  make(path, {{"x", "old"}});
  EXPECT_EQ(read_file(aside / "thesis.txt"), "years");
  fs::remove_all(path);
  fs::remove_all(aside);
  make(aside, {{"x", "other"}});
  make(path, {{"x", "old"}});  // creates path, leaves the other folder alone
  EXPECT_EQ(read_file(aside / "x"), "other");
  // A folder that the program wrote, but not one that `path` has replaced.
  fs::remove_all(aside);
  make(aside, {{"x", "other"}});
  expect_user_error("model.replaced: is in the way",
                    [&] { OutputFolder out(path, options(true)); });
  EXPECT_EQ(read_file(aside / "x"), "other");
}

TEST(OutputFolder, ThatIsResumableStaysOnceThereIsSomethingToGoOnFrom) {
  const TemporaryFolder folder;
  const fs::path destination = folder.path() / "model", partial = folder.path() / "model.partial";
  {
    OutputFolder output(destination, resumable());
    EXPECT_EQ(output.path(), partial);
    output.begin({{"seed", 1}});
    fill(output.path(), {{"seed-42/inner/x", "1"}});
  }
  EXPECT_FALSE(fs::exists(partial));
  {
    OutputFolder output(destination, resumable());
    output.begin({{"command", "train"}, {"seed", 1}});
    fill(output.path(), {{"x", "1"}, {"moments", "2"}});
  }
  EXPECT_TRUE(fs::exists(partial));
  const auto begin = [&](const char* command) {
    OutputFolder output(destination, resumable());
    output.begin({{"command", command}});
  };
  expect_user_error("`hone train` was interrupted; continue it with `resume`, or start again with",
                    [&] { begin("train"); });
  expect_user_error("`hone train` was interrupted and left this; give another output folder",
                    [&] { begin("prune"); });
  EXPECT_TRUE(fs::exists(partial / "moments"));
  {
    OutputFolder output(destination, resumable(true));
    ASSERT_TRUE(output.interrupted().has_value());
    EXPECT_EQ(output.interrupted()->job, (Json{{"command", "train"}, {"seed", 1}}));
    EXPECT_EQ(files_in(output.path()), (Files{{"x", "1"}, {"moments", "2"}}));
  }
  OutputFolder output(destination, resumable(true));
  output.commit();
  EXPECT_EQ(files_in(destination), (Files{{"x", "1"}}));  // without the progress files
  EXPECT_EQ(read_record(destination)->job, (Json{{"command", "train"}, {"seed", 1}}));
  EXPECT_FALSE(fs::exists(partial));
}

TEST(OutputFolder, BeginsWhereThereIsNothingToResume) {
  const TemporaryFolder folder;
  OutputFolder output(folder.path() / "model", resumable(true));
  EXPECT_FALSE(output.interrupted().has_value());
  EXPECT_FALSE(output.previous().has_value());
  make(folder.path() / "done", {{"x", "text"}});
  OutputFolder done(folder.path() / "done", resumable(true));
  EXPECT_TRUE(done.previous().has_value());
}

TEST(OutputFolder, StartsAgainWhenToldToOverwrite) {
  const TemporaryFolder folder;
  const fs::path destination = folder.path() / "model";
  {
    OutputFolder output(destination, resumable());
    output.begin({{"seed", 1}});
    fill(output.path(), {{"x", "1"}, {"moments", "2"}});
    fill_from_outside(output.path(), {{"sub/notes.txt", "mine"}});
  }
  // Old files stay until the new job begins.
  { OutputFolder output(destination, resumable(false, true)); }
  EXPECT_TRUE(fs::exists(folder.path() / "model.partial" / "moments"));
  OutputFolder output(destination, resumable(false, true));
  output.begin({{"seed", 2}});
  EXPECT_EQ(files_in(output.path()), (Files{{"sub/notes.txt", "mine"}}));
  fill(output.path(), {{"y", "new"}});
  output.commit();
  EXPECT_EQ(files_in(destination), (Files{{"y", "new"}, {"sub/notes.txt", "mine"}}));
  // Files that others added during the run are not listed as the program's.
  EXPECT_FALSE(read_record(destination)->files.contains("sub/notes.txt"));
}

TEST(OutputFolder, LeavesNothingOfAJobThatWasGivenUpAndHadMadeNothing) {
  const TemporaryFolder folder;
  const fs::path partial = folder.path() / "model.partial";
  {
    OutputFolder output(folder.path() / "model", resumable());
    output.begin({{"seed", 1}});
    fill(output.path(), {{"x", "1"}});
    EXPECT_EQ(user_error_of([&] { output.abandon("it diverged"); }), "it diverged");
  }
  EXPECT_EQ(names_in(folder.path()), Names{});
  // Files of others stay.
  {
    OutputFolder output(folder.path() / "model", resumable());
    output.begin({{"seed", 1}});
    fill(output.path(), {{"x", "1"}});
    fill_from_outside(output.path(), {{"notes.txt", "mine"}});
    expect_user_error("it diverged", [&] { output.abandon("it diverged"); });
  }
  EXPECT_EQ(files_in(partial), (Files{{"notes.txt", "mine"}}));
}

TEST(OutputFolder, GoesOnWithNoJobThatWasGivenUp) {
  const TemporaryFolder folder;
  const fs::path destination = folder.path() / "model", partial = folder.path() / "model.partial";
  const std::string given_up = partial.string() +
                               ": it diverged\n`resume` would continue from there and fail in the "
                               "same way; start again with other settings and `overwrite`";
  {
    OutputFolder output(destination, resumable());
    output.begin({{"seed", 1}});
    fill(output.path(), {{"x", "1"}, {"moments", "2"}});
    EXPECT_EQ(user_error_of([&] { output.abandon("it diverged"); }), given_up);
  }
  for (const bool resume : {true, false})
    EXPECT_EQ(user_error_of([&] { OutputFolder(destination, resumable(resume)).begin({}); }),
              given_up);
  EXPECT_EQ(files_in(partial), (Files{{"x", "1"}, {"moments", "2"}}));
  OutputFolder output(destination, resumable(/*resume=*/true, /*overwrite=*/true));
  EXPECT_FALSE(output.interrupted().has_value());
  output.begin({{"seed", 2}});
  EXPECT_EQ(files_in(partial), Files{});
  EXPECT_EQ(read_record(partial)->given_up, "");
}

TEST(OutputFolder, WorksInNoPartialFolderThatIsSomebodyElses) {
  const TemporaryFolder folder;
  const fs::path destination = folder.path() / "novel", partial = folder.path() / "novel.partial";
  fill(partial, {{"chapter", "one"}, {"x", "two"}});
  for (const OutputFolderOptions& each : {resumable(), resumable(true), resumable(false, true)})
    expect_user_error("novel.partial: exists already and was not left by an interrupted run",
                      [&] { OutputFolder(destination, each); });
  EXPECT_EQ(files_in(partial), (Files{{"chapter", "one"}, {"x", "two"}}));
  fs::remove_all(partial);
  fs::create_directory_symlink(folder.path(), partial);
  expect_user_error("novel.partial: is in the way",
                    [&] { OutputFolder(destination, resumable(false, true)); });
  fs::remove(partial);
  fill(folder.path(), {{"novel.partial", "a file"}});
  expect_user_error("novel.partial: is in the way",
                    [&] { OutputFolder(destination, resumable(false, true)); });
}

// Uses the list that the process wrote. Names of files do not matter.
TEST(OutputFolder, KnowsTheFilesOfAKilledProcess) {
  const TemporaryFolder folder;
  const fs::path destination = folder.path() / "model", partial = folder.path() / "model.partial";
  const auto work = [&] {
    OutputFolder output(destination, resumable(/*resume=*/false, /*overwrite=*/true));
    output.begin({});
    fill(output.path(), {{"any name", "1"}});
    write_folder(output.path() / "checkpoint", [](const fs::path& inner) {
      fill(inner, {{"deep/weights", "2"}, {"moments", "3"}});
    });
    write_folder(output.path() / "another", [](const fs::path& inner) {
      fill(inner, {{"weights", "4"}});
      ::_exit(0);
    });
  };
  run_killed(work);
  fill_from_outside(partial, {{"any name.txt", "mine"}, {"checkpoint/notes", "mine"}});
  {
    OutputFolder output(destination, resumable(/*resume=*/true));
    output.continue_job({});
    EXPECT_FALSE(is_foreign(partial / "any name"));
    EXPECT_FALSE(is_foreign(partial / "checkpoint/moments"));
    EXPECT_TRUE(is_foreign(partial / "checkpoint/notes"));
    fill(output.path(), {{"y", "5"}});
    output.commit();
  }
  const Files mine = {{"any name.txt", "mine"}, {"checkpoint/notes", "mine"}};
  Files whole = {{"any name", "1"}, {"checkpoint/deep/weights", "2"}, {"y", "5"}};
  EXPECT_EQ(read_record(destination)->files.size(), whole.size());
  for (const auto& [path, text] : whole)
    EXPECT_TRUE(read_record(destination)->files.contains(path)) << path;
  whole.insert(mine.begin(), mine.end());
  EXPECT_EQ(files_in(destination), whole);
  fs::remove_all(destination);
  run_killed(work);
  fill_from_outside(partial, mine);
  OutputFolder output(destination, resumable(/*resume=*/false, /*overwrite=*/true));
  output.begin({});
  EXPECT_EQ(files_in(partial), mine);
  EXPECT_FALSE(fs::exists(partial / kWrittenFiles));
}

// A process that was killed between writing its record and renaming the folder. Its list is gone.
TEST(OutputFolder, KnowsTheFilesOfAFinishedRunWithoutItsList) {
  const TemporaryFolder folder;
  const fs::path destination = folder.path() / "model", partial = folder.path() / "model.partial";
  {
    OutputFolder output(destination, resumable());
    output.begin({});
    fill(output.path(), {{"x", "1"}});
    output.commit();
  }
  fs::rename(destination, partial);
  OutputFolder output(destination, resumable(/*resume=*/true));
  output.continue_job({});
  fill(output.path(), {{"y", "2"}});
  output.commit();
  EXPECT_TRUE(read_record(destination)->files.contains("x"));
  EXPECT_TRUE(read_record(destination)->files.contains("y"));
}

// As in pipelines, whose stages are commands.
TEST(OutputFolder, KnowsTheFilesOfOtherCommandsByTheirOwnRecordsAndLists) {
  const TemporaryFolder folder;
  const fs::path destination = folder.path() / "chain", partial = folder.path() / "chain.partial";
  OutputFolderOptions with_stages = resumable(/*resume=*/true);
  with_stages.scaffolding.emplace_back("begun.partial/*");
  const auto leave = [&] {
    run_killed([&] {
      OutputFolder output(destination, with_stages);
      output.begin({});
      claim_folder(output.path() / "done");
      claim_folder(output.path() / "begun.partial");
      ::_exit(0);
    });
    make(partial / "done", {{"x", "1"}});
    run_killed([&] {
      OutputFolder inner(partial / "begun", resumable());
      inner.begin({});
      fill(inner.path(), {{"y", "2"}});
      ::_exit(0);
    });
    fill_from_outside(partial, {{"done/notes", "mine"}, {"begun.partial/notes", "mine"}});
    make(partial / "model", {{"x", "mine"}});  // not claimed
  };
  leave();
  {
    OutputFolder output(destination, resumable(/*resume=*/false, /*overwrite=*/true));
    output.begin({});
    Files left = files_in(partial);
    EXPECT_EQ(left.erase("model/record.json"), 1u);
    EXPECT_EQ(
        left,
        (Files{{"done/notes", "mine"}, {"begun.partial/notes", "mine"}, {"model/x", "mine"}}));
  }
  fs::remove_all(partial);
  leave();
  OutputFolder output(destination, with_stages);
  output.continue_job({});
  output.commit();
  Names names;
  const std::optional<FolderRecord> record = read_record(destination);
  for (const auto& [path, file] : record->files) names.push_back(path);
  EXPECT_EQ(names, (Names{"done/record.json", "done/x"}));
  EXPECT_FALSE(fs::exists(destination / "begun.partial/y"));
  EXPECT_TRUE(fs::exists(destination / "begun.partial/notes"));
  EXPECT_TRUE(fs::exists(destination / "model/x"));
}

TEST(RemoveUnfinished, LeavesWhatOthersPutThere) {
  const TemporaryFolder folder;
  const fs::path partial = folder.path() / "model.partial";
  const auto leave = [&] {
    run_killed([&] {
      OutputFolder output(folder.path() / "model", resumable());
      output.begin({});
      fill(output.path(), {{"deep/x", "1"}, {"moments", "2"}});
      ::_exit(0);
    });
  };
  leave();
  remove_unfinished(partial);
  EXPECT_FALSE(fs::exists(partial));
  leave();
  fill_from_outside(partial, {{"deep/notes", "mine"}});
  remove_unfinished(partial);
  EXPECT_EQ(files_in(partial), (Files{{"deep/notes", "mine"}}));
}

TEST(OutputFolder, BelongsToOneProcess) {
  const TemporaryFolder folder;
  const fs::path destination = folder.path() / "model";
  OutputFolder output(destination, resumable());
  output.begin({});
  for (const OutputFolderOptions& each : {resumable(true), resumable(false, true)})
    expect_user_error("another process is using it", [&] { OutputFolder(destination, each); });
  EXPECT_TRUE(fs::exists(output.path()));
}

}  // namespace
}  // namespace hone
