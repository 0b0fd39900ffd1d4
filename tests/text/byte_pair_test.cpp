#include "hone/text/byte_pair.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>

#include "hone/base/random.h"
#include "hone/text/byte_level.h"
#include "hone/text/normalizer.h"
#include "tests/support/expect.h"

namespace hone {
namespace {

using Pieces = std::vector<std::string>;

// Returns the 256 bytes, then the results of the merges.
Pieces tokens_of(const std::vector<Merge>& merges) {
  Pieces tokens;
  for (int byte = 0; byte < 256; ++byte)
    append_utf8(byte_character(static_cast<unsigned char>(byte)), tokens.emplace_back());
  for (const Merge& merge : merges)
    if (std::find(tokens.begin(), tokens.end(), merge.left + merge.right) == tokens.end())
      tokens.push_back(merge.left + merge.right);
  return tokens;
}

Pieces pieces_of(const std::vector<Merge>& merges, std::string_view word) {
  const Pieces tokens = tokens_of(merges);
  std::vector<std::int32_t> ids;
  BytePair(tokens, merges).encode(word, ids);
  Pieces pieces;
  for (const std::int32_t id : ids) pieces.push_back(tokens.at(static_cast<std::size_t>(id)));
  return pieces;
}

TEST(BytePair, WithoutMergesIsBytes) {
  EXPECT_EQ(pieces_of({}, "a é"), (Pieces{"a", "Ġ", "Ã", "©"}));
  EXPECT_EQ(pieces_of({}, ""), Pieces{});
}

TEST(BytePair, JoinsWhatComesFirstInTheList) {
  EXPECT_EQ(pieces_of({{"b", "c"}, {"a", "b"}, {"ab", "c"}}, "abc"), (Pieces{"a", "bc"}));
  EXPECT_EQ(pieces_of({{"a", "b"}, {"b", "c"}, {"ab", "c"}}, "abc"), (Pieces{"abc"}));
  EXPECT_EQ(pieces_of({{"Ġ", "a"}}, " a"), (Pieces{"Ġa"}));
}

TEST(BytePair, JoinsFromTheLeft) {
  EXPECT_EQ(pieces_of({{"a", "a"}}, "aaaaa"), (Pieces{"aa", "aa", "a"}));
}

// A token that no merge produces is never used.
TEST(BytePair, DoesNotTakeAWordForItsToken) {
  Pieces tokens = tokens_of({});
  tokens.push_back("ab");
  std::vector<std::int32_t> ids;
  BytePair(tokens, {}).encode("ab", ids);
  EXPECT_EQ(ids.size(), 2u);
}

// A naive implementation: joins the pair that is listed first, leftmost, until no listed pair is left.
Pieces joined_slowly(const std::vector<Merge>& merges, std::string_view word) {
  Pieces pieces;
  for (const char c : word) pieces.emplace_back(1, c);
  for (;;) {
    std::size_t best = merges.size(), at = 0;
    for (std::size_t i = 0; i + 1 < pieces.size(); ++i) {
      const auto found = std::find(merges.begin(), merges.end(), Merge{pieces[i], pieces[i + 1]});
      const auto rank = static_cast<std::size_t>(found - merges.begin());
      if (rank < best) best = rank, at = i;
    }
    if (best == merges.size()) return pieces;
    pieces[at] += pieces[at + 1];
    pieces.erase(pieces.begin() + static_cast<std::ptrdiff_t>(at) + 1);
  }
}

TEST(BytePair, JoinsShortAndLongWordsByTheBook) {
  RandomSequence random(5, 0);
  const auto letter = [&] { return std::string(1, static_cast<char>('a' + random.below(4))); };
  for (int round = 0; round < 60; ++round) {
    Pieces known = {"a", "b", "c", "d"};
    std::vector<Merge> merges;
    for (int i = 0; i < 30; ++i) {
      const Merge merge = {known[random.below(known.size())], known[random.below(known.size())]};
      if (std::find(merges.begin(), merges.end(), merge) != merges.end()) continue;
      merges.push_back(merge);
      known.push_back(merge.left + merge.right);
    }
    for (const std::size_t size : {1u, 2u, 5u, 20u, 39u, 40u, 41u, 42u, 80u, 150u}) {
      std::string word;
      while (word.size() < size) word += letter();
      EXPECT_EQ(pieces_of(merges, word), joined_slowly(merges, word)) << word;
    }
  }
}

// A quadratic algorithm would take hours.
TEST(BytePair, AMegabyteWithoutSpacesIsReadInLittleTime) {
  std::vector<Merge> merges;
  for (std::string piece = "a"; piece.size() < 5000; piece += piece)
    merges.push_back({piece, piece});
  const Pieces tokens = tokens_of(merges);
  const BytePair pieces(tokens, merges);
  std::vector<std::int32_t> ids;
  pieces.encode(std::string(1 << 20, 'a'), ids);
  EXPECT_EQ(ids, std::vector<std::int32_t>((1 << 20) / 8192, 256 + 12));
}

TEST(BytePair, RefusesAListThatDoesNotFitTheVocabulary) {
  Pieces tokens = tokens_of({{"a", "b"}});
  const auto refuses = [&](std::vector<Merge> merges, const std::string& message) {
    expect_user_error(message, [&] { BytePair(tokens, merges); });
  };
  refuses({{"a", "b"}, {"ab", "c"}},
          "merge 2, 'ab c': 'abc' is not among the 257 tokens; merges and vocabulary do not belong "
          "together");
  refuses({{"a", "xy"}}, "merge 1, 'a xy': 'xy' is not among the 257 tokens");
  refuses({{"a", "b"}, {"a", "b"}}, "the merge 'a b' is listed twice, as numbers 1 and 2");
  tokens[0xe9] = "other";
  refuses({}, "there is no token for the byte 0xe9, written 'é'; expected one for each of the 256");
}

// A truncated merges.txt has too few merges.
TEST(BytePair, RefusesMergesThatMakeFewOfTheTokens) {
  std::vector<Merge> merges;
  for (char a = 'a'; a <= 'z'; ++a)
    for (const char* second : {"e", "n"}) merges.push_back({std::string(1, a), second});
  const Pieces tokens = tokens_of(merges);
  BytePair(tokens, std::vector<Merge>(merges.begin(), merges.begin() + 30));
  expect_user_error(
      "the merges make only 0 of the 52 tokens of several bytes; merges and "
      "vocabulary do not belong together, or the merges are damaged",
      [&] { BytePair(tokens, {}); });
}

}  // namespace
}  // namespace hone
