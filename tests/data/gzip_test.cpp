#include "hone/data/gzip.h"

#include <gtest/gtest.h>

#include "tests/data/packed.h"
#include "tests/support/expect.h"

namespace hone {
namespace {

constexpr std::size_t kPlenty = std::size_t{1} << 30;

TEST(Gunzip, GivesBackWhatWasPacked) {
  std::string text;
  for (int i = 0; i < 400'000; ++i) text += std::to_string(i % 1000 * 7919);
  for (const std::string& whole : {std::string(), std::string("one"), text})
    EXPECT_EQ(gunzip(gzipped(whole), "file", kPlenty), whole);
}

TEST(Gunzip, ReadsMemberAfterMember) {
  EXPECT_EQ(gunzip(gzipped("a") + gzipped("") + gzipped("b"), "file", kPlenty), "ab");
}

TEST(Gunzip, RefusesDamage) {
  const std::string packed = gzipped("some text that is long enough to be cut");
  expect_user_error("d.csv.gz: the gzip data is cut off at byte",
                    [&] { gunzip(packed.substr(0, packed.size() - 9), "d.csv.gz", kPlenty); });
  expect_user_error("the gzip data is cut off at byte 0", [] { gunzip("", "d.csv.gz", kPlenty); });
  expect_user_error("d.csv.gz: this is not a gzip file, or it is damaged",
                    [] { gunzip("text,label\n", "d.csv.gz", kPlenty); });
  std::string wrong = packed;
  wrong[wrong.size() - 6] ^= 1;  // the checksum
  expect_user_error("or it is damaged", [&] { gunzip(wrong, "d.csv.gz", kPlenty); });
}

TEST(Gunzip, StopsAtTheMemoryItMayTake) {
  const std::string packed = gzipped(std::string(5'000'000, 'a'));
  EXPECT_LT(packed.size(), 10'000u);
  expect_user_error("unpack to more than 1.91 MiB, which is too much for the memory",
                    [&] { gunzip(packed, "d.csv.gz", 2'000'000); });
  EXPECT_EQ(gunzip(packed, "d.csv.gz", 5'000'001).size(), 5'000'000u);
}

}  // namespace
}  // namespace hone
