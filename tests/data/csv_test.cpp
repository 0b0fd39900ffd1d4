#include "hone/data/csv.h"

#include <gtest/gtest.h>

#include "tests/support/expect.h"

namespace hone {
namespace {

using Records = std::vector<std::vector<std::string>>;

Records read(std::string_view text, char separator = ',') {
  CsvReader reader(text, separator);
  Records records;
  std::vector<std::string> fields;
  while (reader.next(fields)) records.push_back(fields);
  return records;
}

TEST(Csv, SplitsFieldsAndLines) {
  EXPECT_EQ(read("a,b\n1,2\n"), (Records{{"a", "b"}, {"1", "2"}}));
}

TEST(Csv, NeedsNoFinalLineEnd) { EXPECT_EQ(read("a,b\n1,2"), read("a,b\n1,2\n")); }

TEST(Csv, TakesCrLfForALineEnd) {
  EXPECT_EQ(read("a,b\r\n1,2\r\n"), (Records{{"a", "b"}, {"1", "2"}}));
}

TEST(Csv, KeepsEmptyFieldsAndSkipsEmptyLines) {
  EXPECT_EQ(read("a,,\n\n\r\n,b,"), (Records{{"a", "", ""}, {"", "b", ""}}));
}

TEST(Csv, QuotesHoldSeparatorsLineBreaksAndQuotes) {
  EXPECT_EQ(read("\"a,b\",\"c\r\nd\",\"say \"\"yes\"\"\"\n\"\",x\n"),
            (Records{{"a,b", "c\r\nd", "say \"yes\""}, {"", "x"}}));
}

TEST(Csv, AQuoteInsideAFieldIsText) { EXPECT_EQ(read("5\" disk,b"), (Records{{"5\" disk", "b"}})); }

TEST(Csv, TakesAnotherSeparator) { EXPECT_EQ(read("a,b\tc\n", '\t'), (Records{{"a,b", "c"}})); }

TEST(Csv, SkipsAByteOrderMark) {
  EXPECT_EQ(read("\xef\xbb\xbf"
                 "a,b"),
            (Records{{"a", "b"}}));
}

TEST(Csv, CountsLinesInsideQuotes) {
  CsvReader reader("a\n\"b\nb\"\n\nc\n", ',');
  std::vector<std::string> fields;
  std::vector<std::int64_t> lines;
  while (reader.next(fields)) lines.push_back(reader.line());
  EXPECT_EQ(lines, (std::vector<std::int64_t>{1, 2, 5}));
}

TEST(Csv, NamesTheLineOfABadQuote) {
  expect_user_error("line 2: a quoted field is never closed", [] { read("a\nb,\"c\nd"); });
  expect_user_error("line 2: a quoted field is followed by 'c'", [] { read("a\n\"b\"c\n"); });
  expect_user_error("line 2: the quoted field that begins here has no closing quote before line 4",
                    [] { read("a,b\n1,\"open\n2,x\n3,\"c, d\"\n"); });
}

TEST(CsvReader, RefusesFieldsWithoutEnd) {
  const std::string text = "a\n" + std::string(10'000, ',');
  CsvReader reader(text, ',');
  std::vector<std::string> fields;
  reader.next(fields);
  expect_user_error("line 2: more than 10000 fields; is this a table?",
                    [&] { reader.next(fields); });
}

}  // namespace
}  // namespace hone
