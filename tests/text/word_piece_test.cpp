#include "hone/text/word_piece.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

using Ids = std::vector<std::int32_t>;

Ids cut(const std::vector<std::string>& tokens, std::string_view word,
        const WordPieceOptions& options = {}) {
  Ids ids;
  WordPiece(tokens, 0, options).encode(word, ids);
  return ids;
}

TEST(WordPiece, TakesTheLongestPiece) {
  EXPECT_EQ(cut({"[UNK]", "un", "una", "##ff", "##ffa", "##ble"}, "unaffable"), (Ids{2, 4, 5}));
}

TEST(WordPiece, NeverGoesBackForAnotherCut) {
  // "ab" + "##cd" would work, but "abc" is longer and leaves a "d" that no piece covers.
  EXPECT_EQ(cut({"[UNK]", "ab", "abc", "##cd"}, "abcd"), (Ids{0}));
}

TEST(WordPiece, KeepsBeginningsAndContinuationsApart) {
  EXPECT_EQ(cut({"[UNK]", "##a"}, "a"), (Ids{0}));
  EXPECT_EQ(cut({"[UNK]", "a"}, "aa"), (Ids{0}));
}

TEST(WordPiece, UnknownRestMakesTheWholeWordUnknown) {
  EXPECT_EQ(cut({"[UNK]", "a", "##b"}, "abz"), (Ids{0}));
}

TEST(WordPiece, KeepsIdsThatStandBefore) {
  Ids ids = {7, 8};
  WordPiece({"[UNK]", "a"}, 0, {}).encode("az", ids);
  EXPECT_EQ(ids, (Ids{7, 8, 0}));
}

TEST(WordPiece, CountsCharactersNotBytes) {
  const std::vector<std::string> tokens = {"[UNK]", "é", "##é"};
  const auto repeated = [](int count) {
    std::string word;
    for (int i = 0; i < count; ++i) word += "é";
    return word;
  };
  EXPECT_EQ(cut(tokens, repeated(100)).size(), 100u);
  EXPECT_EQ(cut(tokens, repeated(101)), (Ids{0}));
  EXPECT_EQ(cut(tokens, repeated(3), {.longest_word_characters = 2}), (Ids{0}));
}

TEST(WordPiece, TakesAnotherPrefix) {
  EXPECT_EQ(cut({"[UNK]", "a", "@@b"}, "ab", {.continuation_prefix = "@@"}), (Ids{1, 2}));
}

TEST(PieceTable, FindsEveryPieceAmongThousands) {
  PieceTable table;
  const auto hash_of = [](std::string_view text) {
    RollingHash hash;
    for (const char c : text) hash.add(c);
    return hash;
  };
  for (int i = 0; i < 5000; ++i) table.insert(std::to_string(i), i);
  for (int i = 0; i < 5000; ++i)
    EXPECT_EQ(table.find(std::to_string(i), hash_of(std::to_string(i))), i);
  for (int i = 5000; i < 9000; ++i)
    EXPECT_EQ(table.find(std::to_string(i), hash_of(std::to_string(i))), -1);
  EXPECT_EQ(table.longest(), 4u);
}

}  // namespace
}  // namespace hone
