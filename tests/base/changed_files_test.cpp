#include "hone/base/changed_files.h"

#include <gtest/gtest.h>

#include "tests/support/expect.h"

namespace hone {
namespace {

TEST(ChangedFiles, AreThoseThatAreNotAsTheRecordHasThem) {
  const TemporaryFolder folder;
  const fs::path& at = folder.path();
  FolderRecord record{.finished = true};
  for (const char* name : {"a", "b", "c", "d"}) {
    write_file(at / name, std::string("as it was"));
    record.files[name] = recorded(at / name);
  }
  write_file(at / "of another hand", std::string("not in the record"));
  EXPECT_TRUE(changed_files(at, record).empty());
  fs::remove(at / "a");
  write_file(at / "b", std::string("shorter"));
  write_file(at / "d", std::string("as it is."));
  std::string all;
  for (const auto& [path, change] : changed_files(at, record)) all += path + " " + change + "; ";
  EXPECT_EQ(all, "a is missing; b has 7 bytes instead of 9; d has other bytes; ");
}

}  // namespace
}  // namespace hone
