#include "hone/data/written_list.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

using Names = std::vector<std::string>;

TEST(WrittenList, IsAFlatJsonArray) {
  EXPECT_EQ(parse_list(R"( ["a, b", 1, 0.5, true] )"), (Names{"a, b", "1", "0.5", "true"}));
  EXPECT_EQ(parse_list("[]"), Names{});
}

// As printed by str() and repr().
TEST(WrittenList, IsWhatPythonPrints) {
  const Names two = {"toxic", "insult"};
  for (const char* text : {"['toxic', 'insult']", "('toxic', 'insult')", "{'toxic', 'insult'}",
                           "frozenset({'toxic', 'insult'})", "[\"toxic\", 'insult',]",
                           "[u'toxic', b'insult']", " [ 'toxic' , 'insult' ] "})
    EXPECT_EQ(parse_list(text), two) << text;
  EXPECT_EQ(parse_list("('toxic',)"), Names{"toxic"});
  for (const char* text : {"[]", "()", "set()", "frozenset()", "list()"})
    EXPECT_EQ(parse_list(text), Names{}) << text;
  EXPECT_EQ(parse_list("[True, False, 3]"), (Names{"True", "False", "3"}));
}

TEST(WrittenList, IsWhatNumpyPrints) {
  const Names two = {"toxic", "insult"};
  for (const char* text : {"['toxic' 'insult']", "array(['toxic', 'insult'], dtype=object)",
                           "array(['toxic', 'insult'],\n      dtype='<U6')", "['toxic'\n 'insult']",
                           "[np.str_('toxic'), np.str_('insult')]"})
    EXPECT_EQ(parse_list(text), two) << text;
  EXPECT_EQ(parse_list("[1 0 1]"), (Names{"1", "0", "1"}));
  EXPECT_EQ(parse_list("[1. 0. 0.5]"), (Names{"1.0", "0.0", "0.5"}));
  EXPECT_EQ(parse_list("[ True False]"), (Names{"True", "False"}));
  EXPECT_EQ(parse_list("[np.int64(1), np.float64(0.5), np.True_]"), (Names{"1", "0.5", "True"}));
  EXPECT_EQ(parse_list("array([], dtype=float64)"), Names{});
}

TEST(WrittenList, FollowsPythonsQuoting) {
  EXPECT_EQ(parse_list(R"(["don't", 'say "hi"', 'a, b', 'x]y'])"),
            (Names{"don't", "say \"hi\"", "a, b", "x]y"}));
  EXPECT_EQ(
      parse_list(R"(['it\'s "so"', 'tab\there', 'caf\xe9', '\u00fc', '\U0001f600', 'c:\\d'])"),
      (Names{"it's \"so\"", "tab\there", "café", "ü", "😀", "c:\\d"}));
  EXPECT_EQ(parse_list(R"(['\d', b'caf\xc3\xa9'])"), (Names{"\\d", "café"}));
}

TEST(WrittenList, IsNoOtherText) {
  for (const char* other : {"",         "a",           "[1",          "[[1]]",    "[null]",
                            "[None]",   "{\"a\": 1}",  "7",           "('a')",    "(a)",
                            "{a}",      "{}",          "[a, b]",      "['a'",     "['a']]",
                            "['a'] x",  "['a''b']",    "['a',, 'b']", "f(['a'])", "[0 ... 1]",
                            "['\\x4']", "very [good]", "array",       "[nan]",    "set(['a'], x)"})
    EXPECT_EQ(parse_list(other), std::nullopt) << other;
}

TEST(WrittenList, MayBeMissing) {
  for (const char* text : {"", " ", "nan", "NaN", "None"}) EXPECT_TRUE(is_missing_list(text));
  EXPECT_FALSE(is_missing_list("none"));
}

}  // namespace
}  // namespace hone
