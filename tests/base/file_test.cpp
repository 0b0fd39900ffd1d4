#include "hone/base/file.h"

#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "tests/support/expect.h"

namespace hone {
namespace {

std::vector<std::string> entries_of(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

using Names = std::vector<std::string>;

TEST(MappedFile, GivesTheBytesOfTheFile) {
  const TemporaryFolder folder;
  MappedFile file(folder.file("x", std::string("a\0b", 3)));
  EXPECT_EQ(file.text(), std::string_view("a\0b", 3));
  EXPECT_EQ(file.bytes().size(), 3u);
  const MappedFile moved = std::move(file);
  EXPECT_EQ(moved.text().size(), 3u);
}

TEST(MappedFile, MapsEmptyFiles) {
  const TemporaryFolder folder;
  EXPECT_TRUE(MappedFile(folder.file("x", "")).bytes().empty());
}

TEST(MappedFile, AssignmentExchangesMappings) {
  const TemporaryFolder folder;
  MappedFile a(folder.file("a", "aa"));
  MappedFile b(folder.file("b", "b"));
  a = std::move(b);
  EXPECT_EQ(a.text(), "b");
  EXPECT_EQ(a.path(), folder.path() / "b");
}

TEST(MappedFile, NamesThePathAndTheReason) {
  const TemporaryFolder folder;
  const fs::path none = folder.path() / "none";
  expect_user_error(none.string() + ": cannot open: No such file or directory",
                    [&] { MappedFile file(none); });
  expect_user_error("expected a file, found a folder", [&] { MappedFile file(folder.path()); });
  expect_user_error("expected a file, found a device", [] { MappedFile file("/dev/null"); });
}

TEST(ReadFile, GivesTheWholeFile) {
  const TemporaryFolder folder;
  const std::string large(1'000'000, 'x');
  EXPECT_EQ(read_file(folder.file("x", large)), large);
  EXPECT_EQ(read_file(folder.file("y", "")), "");
  expect_user_error("cannot open", [&] { read_file(folder.path() / "none"); });
}

TEST(WriteFile, WritesPiecesInOrder) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "x";
  write_file(path, [](const ByteSink& sink) {
    for (const std::string_view piece : {"one ", "", "two"}) sink(std::as_bytes(std::span(piece)));
  });
  EXPECT_EQ(read_file(path), "one two");
  EXPECT_EQ(entries_of(folder.path()), Names{"x"});
}

TEST(WriteFile, LeavesTheOldFileWhenWritingFails) {
  const TemporaryFolder folder;
  const fs::path path = folder.file("x", "old");
  EXPECT_EQ(user_error_of([&] {
              write_file(path, [](const ByteSink& sink) {
                sink(std::as_bytes(std::span("new", 3)));
                fail("interrupted");
              });
            }),
            "interrupted");
  EXPECT_EQ(read_file(path), "old");
  EXPECT_EQ(entries_of(folder.path()), Names{"x"});
}

TEST(WriteFile, ReadersOfTheOldFileKeepIt) {
  const TemporaryFolder folder;
  const fs::path path = folder.file("x", "old");
  const MappedFile old(path);
  write_file(path, "new");
  EXPECT_EQ(old.text(), "old");
  EXPECT_EQ(read_file(path), "new");
}

TEST(WriteFile, NamesThePathItCannotWrite) {
  const TemporaryFolder folder;
  folder.file("file", "");
  expect_user_error("file/x: cannot make the folders above it: ",
                    [&] { write_file(folder.path() / "file" / "x", "text"); });
  fs::create_directories(folder.path() / "folder" / "inside");
  expect_user_error("folder: cannot write: ",
                    [&] { write_file(folder.path() / "folder", "text"); });
  EXPECT_EQ(entries_of(folder.path()), (Names{"file", "folder"}));
}

TEST(WriteFile, MakesTheFoldersAboveIt) {
  const TemporaryFolder folder;
  write_file(folder.path() / "new" / "deep" / "x", "text");
  EXPECT_EQ(read_file(folder.path() / "new/deep/x"), "text");
}

TEST(ReadFile, WaitsForNoPipeAndNoDevice) {
  const TemporaryFolder folder;
  const fs::path pipe = folder.path() / "pipe", socket = folder.path() / "socket";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  ASSERT_EQ(::mknod(socket.c_str(), S_IFSOCK | 0600, 0), 0);
  for (const auto& [path, kind] : {std::pair(pipe, "pipe: expected a file, found a pipe"),
                                   {socket, "socket: expected a file, found a socket"},
                                   {fs::path("/dev/zero"), "expected a file, found a device"}}) {
    expect_user_error(kind, [&] { read_file(path); });
    expect_user_error(kind, [&] { MappedFile file(path); });
  }
}

TEST(ReadFile, NamesLinksThatLeadInACircle) {
  const TemporaryFolder folder;
  const fs::path a = folder.path() / "a", b = folder.path() / "b";
  fs::create_symlink(a, b);
  fs::create_symlink(b, a);
  const std::string message = a.string() + ": cannot access: its links form a cycle";
  expect_user_error(message, [&] { read_file(a); });
  expect_user_error(message, [&] { path_exists(a); });
  expect_user_error(message, [&] { is_folder(a); });
  EXPECT_FALSE(path_exists(folder.path() / "none"));
  EXPECT_TRUE(is_folder(folder.path()));
}

TEST(WriteFolder, AppearsWholeOrNotAtAll) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "made";
  expect_user_error("broken", [&] {
    write_folder(path, [](const fs::path& at) {
      write_file(at / "x", "text");
      fail("broken");
    });
  });
  EXPECT_TRUE(fs::is_empty(folder.path()));
  write_folder(path, [](const fs::path& at) { write_file(at / "x", "text"); });
  EXPECT_EQ(read_file(path / "x"), "text");
  expect_user_error("made: cannot write", [&] { write_folder(path, [](const fs::path&) {}); });
  EXPECT_EQ(entries_of(folder.path()), Names{"made"});
}

/// Returns the id of a process that has ended.
pid_t ended_process() {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ::waitpid(child, nullptr, 0);
  return child;
}

void make_old(const fs::path& file) {
  fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::hours(1));
}

TEST(WriteFile, RemovesWhatAKilledProgramLeftOfTheSameFile) {
  const TemporaryFolder folder;
  const std::string dead = std::to_string(ended_process());
  for (const std::string& name : {".x." + dead + ".tmp", ".x." + dead + "-2.tmp"})
    make_old(folder.file(name, "half"));
  write_file(folder.path() / "x", "whole");
  EXPECT_EQ(entries_of(folder.path()), Names{"x"});
}

TEST(WriteFile, RemovesNothingThatMayBeAnothers) {
  const TemporaryFolder folder;
  const std::string dead = std::to_string(ended_process()), own = std::to_string(::getpid());
  Names others = {".x." + own + ".tmp",         // its process is running
                  ".y." + dead + ".tmp",        // for another file
                  ".x.y." + dead + ".tmp",      // for another file
                  "x." + dead + ".tmp",         // not the name of a temporary file
                  ".x." + dead + ".tmp.kept",   // not the name of a temporary file
                  ".x." + dead + "x.tmp",       // not the name of a temporary file
                  ".x." + dead + "-.tmp",       // not the name of a temporary file
                  ".x.-" + dead + ".tmp",       // not the name of a temporary file
                  ".x.99999999999999999.tmp"};  // not a process id
  for (const std::string& name : others) make_old(folder.file(name, "mine"));
  const std::string link = ".x." + std::to_string(ended_process()) + ".tmp",
                    inner = ".x." + std::to_string(ended_process()) + ".tmp",
                    fresh = ".x." + std::to_string(ended_process()) + ".tmp",
                    locked = ".x." + std::to_string(ended_process()) + ".tmp";
  fs::create_symlink(folder.path() / ("x." + dead + ".tmp"), folder.path() / link);
  fs::create_directory(folder.path() / inner);
  folder.file(fresh, "written a moment ago");
  make_old(folder.file(locked, "of a process on another machine, or in another container"));
  const int descriptor = ::open((folder.path() / locked).c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_EQ(::flock(descriptor, LOCK_EX), 0);
  others.insert(others.end(), {link, inner, fresh, locked});
  write_file(folder.path() / "x", "whole");
  ::close(descriptor);
  others.push_back("x");
  std::ranges::sort(others);
  EXPECT_EQ(entries_of(folder.path()), others);
  EXPECT_EQ(read_file(folder.path() / "x"), "whole");
  EXPECT_EQ(read_file(folder.path() / (".x." + own + ".tmp")), "mine");
}

// A file is locked while it is written.
TEST(WriteFile, LocksWhatItWrites) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "x";
  write_file(path, [&](const ByteSink&) {
    const fs::path temporary = folder.path() / entries_of(folder.path()).at(0);
    make_old(temporary);
    write_file(path, "another, meanwhile");
    EXPECT_TRUE(fs::exists(temporary));
    const int descriptor = ::open(temporary.c_str(), O_RDONLY | O_CLOEXEC);
    EXPECT_NE(::flock(descriptor, LOCK_EX | LOCK_NB), 0);
    ::close(descriptor);
  });
  EXPECT_EQ(read_file(path), "");
  EXPECT_EQ(entries_of(folder.path()), Names{"x"});
}

TEST(ScratchFolder, TakesNoNameThatIsTaken) {
  const TemporaryFolder folder;
  {
    const ScratchFolder first(folder.path() / "x"), second(folder.path() / "x");
    EXPECT_NE(first.path(), second.path());
    EXPECT_TRUE(is_temporary_name(first.path().filename().string()));
    EXPECT_TRUE(is_temporary_name(second.path().filename().string()));
  }
  EXPECT_TRUE(fs::is_empty(folder.path()));
  for (const char* name : {".tmp", "x.12.tmp", ".x.tmp", ".x.y.tmp", ".x.12.tmp.txt", "thesis"})
    EXPECT_FALSE(is_temporary_name(name)) << name;
}

TEST(CheckOutputFile, LetsOnlyFilesBeOverwritten) {
  const TemporaryFolder folder;
  check_output_file(folder.path() / "new", false);
  const fs::path file = folder.file("file", "text"), link = folder.path() / "link";
  expect_user_error("file: exists already; give another name or `overwrite`",
                    [&] { check_output_file(file, false); });
  check_output_file(file, true);
  fs::create_symlink(file, link);
  expect_user_error("found a link", [&] { check_output_file(link, true); });
  expect_user_error("found a folder", [&] { check_output_file(folder.path(), true); });
  expect_user_error("found a device", [&] { check_output_file("/dev/null", true); });
}

}  // namespace
}  // namespace hone
