#include "hone/text/row_hash.h"

#include <gtest/gtest.h>

#include "hone/base/hash.h"

namespace hone {
namespace {

TEST(RowHash, IsOfTheTextAlone) {
  EXPECT_EQ(row_hash({"a fine film", 0}), short_fingerprint("a fine film"));
  EXPECT_EQ(row_hash({"a fine film", 0}), row_hash({"a fine film", 1}));
  EXPECT_NE(row_hash({"a fine film", 0}), row_hash({"a dull film", 0}));
}

TEST(RowHash, LeavesOutWhatNoModelSees) {
  EXPECT_EQ(row_hash({" a fine film\r\n", 0}), row_hash({"a fine film", 0}));
  EXPECT_NE(row_hash({"a fine  film", 0}), row_hash({"a fine film", 0}));
}

TEST(RowHash, OfAPairIsOfBothTextsInTheirOrder) {
  const auto pair = [](const char* first, const char* second) {
    return row_hash({first, 0, second});
  };
  EXPECT_EQ(pair("a", "b"), pair("a ", " b"));
  EXPECT_NE(pair("a", "b"), pair("b", "a"));
  EXPECT_NE(pair("a", "b"), pair("ab", ""));
  EXPECT_NE(pair("ab", ""), row_hash({"ab", 0}));
}

TEST(RowHashes, AreInTheOrderOfTheExamples) {
  const std::vector<Example> examples = {{"b", 0}, {"a", 1}, {"b", 1}};
  EXPECT_EQ(row_hashes(examples),
            (std::vector<std::uint64_t>{row_hash(examples[0]), row_hash(examples[1]),
                                        row_hash(examples[0])}));
}

TEST(TextNumbers, AreThoseOfTheDifferentTextsAsTheyAreMet) {
  EXPECT_EQ(text_numbers(std::vector<std::uint64_t>{70, 5, 70, 9, 5}),
            (std::vector<std::int32_t>{0, 1, 0, 2, 1}));
  EXPECT_TRUE(text_numbers({}).empty());
}

}  // namespace
}  // namespace hone
