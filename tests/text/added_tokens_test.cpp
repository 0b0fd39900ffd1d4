#include "hone/text/added_tokens.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

// Returns "text<id>text": the text between added tokens, with their ids in parentheses.
std::string split_by(const std::vector<AddedToken>& tokens, std::string_view text) {
  AddedTokens added;
  for (std::size_t i = 0; i < tokens.size(); ++i)
    added.add(tokens[i], tokens[i].text, static_cast<int>(i));
  std::string result;
  added.split(text, [&](std::string_view stretch, std::int32_t id) {
    result += stretch;
    if (id >= 0) result += "(" + std::to_string(id) + ")";
    return true;
  });
  return result;
}

TEST(AddedTokens, StandBetweenStretchesOfText) {
  EXPECT_EQ(split_by({{"<m>"}}, "a <m> b<m><m>"), "a (0) b(0)(0)");
  EXPECT_EQ(split_by({{"<m>"}}, "a <m"), "a <m");
  EXPECT_EQ(split_by({{"<m>"}}, ""), "");
  EXPECT_EQ(split_by({}, "a <m>"), "a <m>");
}

TEST(AddedTokens, TheLongestOfThoseAtOnePlaceIsTaken) {
  EXPECT_EQ(split_by({{"<x>"}, {"<x>y"}, {"y"}}, "<x>y<x>zy"), "(1)(0)z(2)");
}

TEST(AddedTokens, TakeWhiteSpaceAlongWhereTheyAreToldTo) {
  const std::vector<AddedToken> tokens = {{"<l>", true}, {"<r>", false, true}};
  EXPECT_EQ(split_by(tokens, "a \u3000\n<l> b"), "a(0) b");
  EXPECT_EQ(split_by(tokens, "a <r>\u00a0\t b"), "a (1)b");
  EXPECT_EQ(split_by(tokens, " <r> <l> "), " (1)(0) ");
  EXPECT_EQ(split_by(tokens, "é<l>"), "é(0)");
}

TEST(AddedTokens, TheFirstOfThoseThatOverlapIsTaken) {
  EXPECT_EQ(split_by({{"<ab"}, {"b>"}}, "<ab> <ab"), "(0)> (0)");
}

TEST(AddedTokens, SingleWordsAreNotFoundInsideOfWords) {
  const std::vector<AddedToken> tokens = {{.text = "ab", .single_word = true}};
  EXPECT_EQ(split_by(tokens, "ab abc cab ab_ ab1 ab\u0301 ab."),
            "(0) abc cab ab_ ab1 ab\u0301 (0).");
  // A rejected match is skipped as a whole.
  EXPECT_EQ(split_by({{.text = "abab", .single_word = true}, {.text = "bab"}}, "xabab"), "xabab");
}

TEST(AddedTokens, WhiteSpaceIsTakenOnce) {
  EXPECT_EQ(split_by({{"<r>", false, true}, {"<l>", true}}, "<r>  <l>"), "(0)(1)");
}

TEST(AddedTokens, AreReadUntilEnoughIsKnown) {
  AddedTokens added;
  added.add({"<m>"}, "<m>", 7);
  int calls = 0;
  added.split("<m><m><m>", [&](std::string_view, std::int32_t) { return ++calls < 2; });
  EXPECT_EQ(calls, 2);
}

}  // namespace
}  // namespace hone
