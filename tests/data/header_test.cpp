#include "hone/data/header.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

using Rows = std::vector<RowFields>;

RowColumns named(const RowFields& first, const Rows& rows, const DataOptions& options = {}) {
  return name_columns(first, rows, options);
}
bool is_header(const RowFields& first, const Rows& rows, const DataOptions& options = {}) {
  return named(first, rows, options).header;
}

const Rows kSpamRows = {{"see you", "ham"}, {"call now", "spam"}, {"hi", "ham"}, {"win", "spam"}};

TEST(Header, HasUsualOrGivenNames) {
  EXPECT_TRUE(is_header({"Text", "v2"}, kSpamRows));
  EXPECT_TRUE(is_header({"premise", "hypothesis"}, kSpamRows));
  EXPECT_TRUE(is_header({"ham", "spam"}, kSpamRows, {.text_column = "ham"})) << "given";
  EXPECT_TRUE(is_header({"ham", "spam"}, kSpamRows, {.remembered = {.label = "spam"}}));
  EXPECT_TRUE(is_header({"text", "ham"}, kSpamRows));
  EXPECT_TRUE(named({"text", "label"}, kSpamRows).notes.empty());
}

TEST(Header, IsDataWhereItLooksLikeTheRowsBelow) {
  EXPECT_FALSE(is_header({"good film", "1"}, {{"bad film", "0"}, {"so so", "1"}}));
  EXPECT_FALSE(is_header({"hello you", "ham"}, kSpamRows));
  EXPECT_FALSE(is_header({"who are you", "question"},
                         {{"a", "question"}, {"b", "no"}, {"c", "question"}, {"d", "no"}}))
      << "a usual name, but a value";
  EXPECT_TRUE(is_header({"v1", "v2"}, {{"a", "b"}, {"v1", "v2"}, {"c", "d"}}))
      << "the header of a file that was appended";
  EXPECT_FALSE(is_header({"a film that is not bad"}, {{"good"}})) << "the only column";
  EXPECT_FALSE(is_header({std::string(101, 'x'), "y"}, {{"a", "b"}}));
  EXPECT_EQ(named({"hello you", "ham"}, kSpamRows).notes.size(), 1u);
}

TEST(Header, IsOneWhereNothingSpeaksAgainstItAndSaysSo) {
  const RowColumns table = named({"v1", "v2"}, kSpamRows);
  EXPECT_TRUE(table.header);
  ASSERT_EQ(table.notes.size(), 1u);
  EXPECT_NE(table.notes[0].find("`no_header`"), std::string::npos);
}

TEST(Header, IsNoneWhereThatIsAskedForOrRemembered) {
  EXPECT_FALSE(is_header({"text", "label"}, kSpamRows, {.form = {.no_header = true}}));
  EXPECT_FALSE(is_header({"v1", "v2"}, kSpamRows, {.text_column = "0"}));
  const DataOptions remembered = {.remembered = {.text = "0", .form = {.no_header = true}}};
  EXPECT_FALSE(is_header({"v1", "v2"}, kSpamRows, remembered));
  EXPECT_TRUE(is_header({"text", "label"}, kSpamRows, remembered)) << "this file has one";
}

TEST(Header, OfNumbersNamesNothing) {
  const RowColumns table = named({"0", "1"}, kSpamRows);
  EXPECT_TRUE(table.header) << "as pandas writes it";
  EXPECT_FALSE(table.columns[0].named);
  EXPECT_EQ(table.columns[0].first_value, "see you");
  EXPECT_TRUE(table.columns[1].repeats);
}

TEST(Header, WithEmptyHeadingsHasColumnsThatAreNotLookedFor) {
  const RowColumns table = named({"", "text", " "}, {{"7", "a", "b"}});
  EXPECT_EQ(table.columns[0].name, "Unnamed: 0");
  EXPECT_EQ(table.columns[2].name, "Unnamed: 2");
  EXPECT_FALSE(table.columns[2].is_text);
  EXPECT_FALSE(table.columns[2].named);
}

}  // namespace
}  // namespace hone
