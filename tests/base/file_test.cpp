#include "hone/base/file.h"

#include <gtest/gtest.h>

#include "tests/support/expect.h"

namespace hone {
namespace {

std::vector<std::string> names_in(const fs::path& folder) {
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
  expect_user_error("something that is not a regular file", [] { MappedFile file("/dev/null"); });
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
  EXPECT_EQ(names_in(folder.path()), Names{"x"});
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
  EXPECT_EQ(names_in(folder.path()), Names{"x"});
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
  expect_user_error("cannot open", [&] { write_file(folder.path() / "none" / "x", "text"); });
  fs::create_directories(folder.path() / "folder" / "inside");
  expect_user_error("folder: cannot write: ",
                    [&] { write_file(folder.path() / "folder", "text"); });
  EXPECT_EQ(names_in(folder.path()), Names{"folder"});
}

TEST(OutputFolder, AppearsOnCommitOnly) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "model";
  {
    OutputFolder out(path, false);
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
    OutputFolder out(folder.path() / "model", false);
    write_file(out.path() / "x", "text");
    OutputFolder deep(folder.path() / "a" / "b" / "c", false);
    write_file(deep.path() / "x", "text");
  }
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST(OutputFolder, ReplacesAnOldOneOnlyWhenAllowed) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "model";
  fs::create_directory(path);
  { OutputFolder(path, false).commit(); }  // an empty folder may be filled
  write_file(path / "old", "text");
  expect_user_error("model: exists already; give another output folder or --overwrite",
                    [&] { OutputFolder out(path, false); });
  OutputFolder out(path, true);
  write_file(out.path() / "new", "text");
  EXPECT_EQ(names_in(path), Names{"old"});
  out.commit();
  EXPECT_EQ(names_in(path), Names{"new"});
  EXPECT_EQ(names_in(folder.path()), Names{"model"});
}

TEST(OutputFolder, RefusesFiles) {
  const TemporaryFolder folder;
  const fs::path path = folder.file("model", "text");
  expect_user_error("model: is a file, not a folder", [&] { OutputFolder out(path, true); });
  expect_user_error("cannot create the output folder",
                    [&] { OutputFolder out(path / "inside", false); });
}

TEST(OutputFolder, TakesNamesWithATrailingSlashAndMissingParents) {
  const TemporaryFolder folder;
  OutputFolder out(folder.path() / "a" / "b" / "", false);
  write_file(out.path() / "x", "text");
  out.commit();
  EXPECT_EQ(read_file(folder.path() / "a" / "b" / "x"), "text");
}

TEST(OutputFolder, KeepsWhatWasWrittenWhenItCannotMoveIt) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "model";
  fs::create_directory(path);
  fs::path written;
  {
    OutputFolder out(path, false);
    written = out.path();
    write_file(written / "x", "text");
    // Where the old folder would step aside there is another that is not empty.
    fs::create_directories(fs::path(written).concat(".old") / "in the way");
    expect_user_error("cannot move the finished folder into place", [&] { out.commit(); });
  }
  EXPECT_EQ(read_file(written / "x"), "text");
  EXPECT_TRUE(fs::exists(path));
}

const OutputFolderOptions kResumable{.resumable = true}, kResume{.resumable = true, .resume = true};

TEST(OutputFolder, ThatIsResumableStaysOnceItIsKept) {
  const TemporaryFolder folder;
  const fs::path destination = folder.path() / "model", partial = folder.path() / "model.partial";
  {
    OutputFolder output(destination, kResumable);
    EXPECT_EQ(output.path(), partial);
  }
  EXPECT_FALSE(fs::exists(partial));
  {
    OutputFolder output(destination, kResumable);
    write_file(output.path() / "checkpoint", "1");
    output.keep();
  }
  EXPECT_TRUE(fs::exists(partial));
  expect_user_error("go on with --resume, or start again with --overwrite",
                    [&] { OutputFolder(destination, kResumable); });
  {
    OutputFolder output(destination, kResume);
    EXPECT_EQ(read_file(output.path() / "checkpoint"), "1");
  }
  OutputFolder output(destination, kResume);
  output.commit();
  EXPECT_EQ(read_file(destination / "checkpoint"), "1");
  EXPECT_FALSE(fs::exists(partial));
}

TEST(OutputFolder, HasNothingToResumeWhereNothingWasInterrupted) {
  const TemporaryFolder folder;
  expect_user_error("there is no such folder, so nothing to resume",
                    [&] { OutputFolder(folder.path() / "model", kResume); });
  folder.file("done.txt", "");
  fs::create_directory(folder.path() / "done");
  folder.file("done/config.json", "{}");
  expect_user_error("done: is finished; there is nothing to resume",
                    [&] { OutputFolder(folder.path() / "done", kResume); });
}

TEST(OutputFolder, StartsAgainWhenToldToOverwrite) {
  const TemporaryFolder folder;
  const fs::path destination = folder.path() / "model";
  {
    OutputFolder output(destination, kResumable);
    write_file(output.path() / "checkpoint", "1");
    output.keep();
  }
  OutputFolder output(destination, {.overwrite = true, .resumable = true});
  EXPECT_TRUE(fs::is_empty(output.path()));
}

TEST(OutputFolder, BelongsToOneProcess) {
  const TemporaryFolder folder;
  const fs::path destination = folder.path() / "model";
  OutputFolder output(destination, kResumable);
  for (const OutputFolderOptions& options : {kResume, {.overwrite = true, .resumable = true}})
    expect_user_error("another process works there", [&] { OutputFolder(destination, options); });
  EXPECT_TRUE(fs::exists(output.path()));
}

}  // namespace
}  // namespace hone
