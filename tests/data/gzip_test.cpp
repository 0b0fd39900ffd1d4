#include "hone/data/gzip.h"

#include <gtest/gtest.h>

#include "tests/data/packed.h"
#include "tests/support/user_error.h"

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
  expect_user_error([&] { gunzip(packed.substr(0, packed.size() - 9), "d.csv.gz", kPlenty); },
                    "d.csv.gz: the gzip data is cut off at byte");
  expect_user_error([] { gunzip("", "d.csv.gz", kPlenty); }, "the gzip data is cut off at byte 0");
  expect_user_error([] { gunzip("text,label\n", "d.csv.gz", kPlenty); },
                    "d.csv.gz: this is no gzip file, or a damaged one");
  std::string wrong = packed;
  wrong[wrong.size() - 6] ^= 1;  // the checksum
  expect_user_error([&] { gunzip(wrong, "d.csv.gz", kPlenty); }, "or a damaged one");
}

TEST(Gunzip, StopsAtTheMemoryItMayTake) {
  const std::string packed = gzipped(std::string(5'000'000, 'a'));
  EXPECT_LT(packed.size(), 10'000u);
  expect_user_error([&] { gunzip(packed, "d.csv.gz", 2'000'000); },
                    "unpack to more than 1.91 MiB, which is too much for the memory");
  EXPECT_EQ(gunzip(packed, "d.csv.gz", 5'000'001).size(), 5'000'000u);
}

}  // namespace
}  // namespace hone
