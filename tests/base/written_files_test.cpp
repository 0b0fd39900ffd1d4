#include "hone/base/written_files.h"

#include <gtest/gtest.h>

#include "tests/support/expect.h"

namespace hone {
namespace {

using Paths = std::vector<fs::path>;

TEST(WrittenFiles, ListsAFileBeforeItIsCreated) {
  const TemporaryFolder folder;
  const WrittenFiles written(folder.path());
  write_file(folder.path() / "one", [&](const ByteSink&) {
    EXPECT_EQ(listed_files(folder.path()), Paths{"one"});
    EXPECT_FALSE(fs::exists(folder.path() / "one"));
  });
  fs::create_directory(folder.path() / "a");
  write_file(folder.path() / "a/two", "text");
  write_file(folder.path() / "one", "again");
  EXPECT_EQ(listed_files(folder.path()), (Paths{"one", "a/two"}));
}

TEST(WrittenFiles, ListsAFolderUnderItsLastName) {
  const TemporaryFolder folder;
  const WrittenFiles written(folder.path());
  write_folder(folder.path() / "a", [&](const fs::path& inner) {
    write_file(inner / "one", "text");
    EXPECT_EQ(listed_files(folder.path()), Paths{});  // listed once the folder has its final name
  });
  EXPECT_EQ(listed_files(folder.path()), Paths{"a/one"});
}

TEST(WrittenFiles, TellsOwnFilesFromOthers) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "work";
  fs::create_directory(path);
  {
    const WrittenFiles written(path);
    claim_file(path / "mine");
    EXPECT_FALSE(is_foreign(path / "mine"));
    EXPECT_FALSE(is_foreign(path / "a/../mine"));
    EXPECT_FALSE(is_foreign(path / ".mine.17.tmp"));
    EXPECT_TRUE(is_foreign(path / "other"));
    EXPECT_FALSE(is_foreign(folder.path() / "other"));
    EXPECT_FALSE(is_foreign(folder.path() / "work.txt"));
  }
  EXPECT_FALSE(is_foreign(path / "other"));  // not listed any more
  const WrittenFiles again(path);
  EXPECT_FALSE(is_foreign(path / "mine"));
  EXPECT_TRUE(is_foreign(path / "other"));
}

TEST(WrittenFiles, GoesOnAfterHalfALine) {
  const TemporaryFolder folder;
  folder.file(kWrittenFiles, "\none\ntw");
  const WrittenFiles written(folder.path());
  claim_file(folder.path() / "three");
  EXPECT_FALSE(is_foreign(folder.path() / "one"));
  EXPECT_EQ(listed_files(folder.path()).back(), "three");
}

TEST(WrittenFiles, IsEmptyAfterClear) {
  const TemporaryFolder folder;
  WrittenFiles written(folder.path());
  claim_file(folder.path() / "one");
  written.clear();
  EXPECT_FALSE(fs::exists(folder.path() / kWrittenFiles));
  EXPECT_TRUE(is_foreign(folder.path() / "one"));
  claim_file(folder.path() / "one");
  EXPECT_EQ(listed_files(folder.path()), Paths{"one"});
}

}  // namespace
}  // namespace hone
