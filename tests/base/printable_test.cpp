#include "hone/base/printable.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

TEST(Printable, LeavesTextAlone) {
  for (const char* text : {"", "plain", "größer – 文\tand\nlines", "\xC2\xA0"})
    EXPECT_EQ(printable(text), text);
}

TEST(Printable, ShowsControlCharacters) {
  EXPECT_EQ(printable("\x1b[31mred\x07\x7f\r"), "\\x1b[31mred\\x07\\x7f\\x0d");
  EXPECT_EQ(printable("\xC2\x9B"
                      "31m"),
            "\\x9b31m");
  EXPECT_EQ(printable(std::string_view("\0", 1)), "\\x00");
}

TEST(Printable, CutsNothingAtTheEnd) { EXPECT_EQ(printable("a\xC2"), "a\xC2"); }

TEST(Printable, CutsEndlessMessagesInTheMiddle) {
  const std::string message =
      "a.bin: tensor '" + std::string(5'000'000, 'x') + "': expected a shape";
  const std::string shown = printable_message(message);
  EXPECT_LT(shown.size(), 4000);
  EXPECT_TRUE(shown.starts_with("a.bin: tensor 'xxx"));
  EXPECT_TRUE(shown.ends_with("xxx': expected a shape"));
}

TEST(Shorten, LeavesWhatFits) {
  for (const char* text : {"", "a", "größe", "中国人民"}) EXPECT_EQ(shorten(text, 5), text);
}

TEST(Shorten, KeepsBothEnds) {
  EXPECT_EQ(shorten("bert.encoder.layer.0.query.weight", 15), "bert.en….weight");
  EXPECT_EQ(shorten("abcdef", 5), "ab…ef");
  EXPECT_EQ(shorten("abcdef", 4), "ab…f");
  EXPECT_EQ(shorten("abcdef", 1), "…");
}

TEST(Shorten, CountsCharactersNotBytes) {
  EXPECT_EQ(shorten("äöüßÄÖÜ", 7), "äöüßÄÖÜ");
  EXPECT_EQ(shorten("äöüßÄÖÜ", 5), "äö…ÖÜ");
  EXPECT_EQ(shorten("\U0001f600\U0001f601\U0001f602\U0001f603", 3), "\U0001f600…\U0001f603");
}

TEST(Shorten, IsShortWhateverTheBytes) {
  for (const char byte : {'a', '\x80', '\xFF', '\0', '\xC2'})
    EXPECT_LE(shorten(std::string(5'000'000, byte), 100).size(), 4 * 100) << int{byte};
}

TEST(OneLine, HasNoLineEnds) {
  EXPECT_EQ(one_line("a\nb\tc\r\nd", 100), "a b c  d");
  EXPECT_EQ(one_line("größer\nals", 5), "gr…ls");
  EXPECT_EQ(character_count("größer"), 6u);
}

TEST(FirstCharacters, CutsBetweenCharacters) {
  EXPECT_EQ(first_characters("größer", 3), "grö");
  EXPECT_EQ(first_characters("größer", 0), "");
  EXPECT_EQ(first_characters("größer", 9), "größer");
}

}  // namespace
}  // namespace hone
