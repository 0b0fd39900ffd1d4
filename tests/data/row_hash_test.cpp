#include "hone/data/row_hash.h"

#include <gtest/gtest.h>

#include "hone/base/hash.h"
#include "hone/text/normalizer.h"

namespace hone {
namespace {

TEST(RowHash, IsOfTheTextAlone) {
  EXPECT_EQ(row_hash({"a fine film", 0}), short_fingerprint("a fine film"));
  EXPECT_EQ(row_hash({"a fine film", 0}), row_hash({"a fine film", 1}));
  EXPECT_NE(row_hash({"a fine film", 0}), row_hash({"a dull film", 0}));
}

TEST(RowHash, LeavesOutWhatFewModelsSee) {
  const std::uint64_t hash = row_hash({"a fine film", 0});
  for (const char* same : {" a fine film\r\n", "A Fine FILM", "a \n fine\tfilm", "a fi\x01ne film",
                           "\xe2\x80\x8b"
                           "a fine film" /* U+200B */,
                           "\u3000 A fine\u00a0film "})
    EXPECT_EQ(row_hash({same, 0}), hash) << same;
  EXPECT_EQ(row_hash({"ÉTÉ À Köln", 0}), row_hash({"été  à köln", 0}));
  EXPECT_NE(row_hash({"ete a koln", 0}), row_hash({"été à köln", 0}));
  EXPECT_NE(row_hash({"afine film", 0}), hash);
  EXPECT_NE(row_hash({"a fine film!", 0}), hash);
}

// Plain ASCII takes a faster path.
TEST(RowHash, IsTheSameOfBothWays) {
  for (int c = 0; c < 0x80; ++c) {
    const std::string ascii = std::string("a b") + static_cast<char>(c) + "c";
    const std::string folded =
        normalize({.split_cjk = false, .strip_accents = false}, "é" + ascii).substr(2);
    EXPECT_EQ(row_hash({ascii, 0}), row_hash({folded, 0})) << c;
    EXPECT_EQ(row_hash({"é" + ascii, 0}), row_hash({"é" + folded, 0})) << c;
  }
}

TEST(RowHash, OfATextOfSpacesIsThatOfNone) {
  const std::uint64_t none = short_fingerprint("");
  for (const char* spaces : {"", " ", " \n\t ", "\x01", " \x01 \x7f ", "\u3000 "})
    EXPECT_EQ(row_hash({spaces, 0}), none) << spaces;
  EXPECT_EQ(row_hash({" a \x01 b \x02", 0}), short_fingerprint("a b"));
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
