#include "hone/text/normalizer.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace hone {
namespace {

CodePoints after(void (*step)(const CodePoints&, CodePoints&), std::u32string_view text) {
  CodePoints out;
  step(CodePoints(text.begin(), text.end()), out);
  return out;
}

CodePoints points(std::u32string_view text) { return {text.begin(), text.end()}; }

TEST(DecodeUtf8, ReadsOneToFourBytes) {
  CodePoints out;
  EXPECT_EQ(decode_utf8("a\xc3\xa9\xe4\xb8\xad\xf0\x9f\x98\x80", out), 0);
  EXPECT_EQ(out, points(U"aé中😀"));
}

TEST(DecodeUtf8, ReplacesEveryMaximalIllFormedPart) {
  const auto replaced = [](std::string_view text) {
    CodePoints out;
    const std::int64_t count = decode_utf8(text, out);
    EXPECT_EQ(std::count(out.begin(), out.end(), U'\xfffd'), count);
    return count;
  };
  EXPECT_EQ(replaced("\x80"), 1);              // a continuation byte alone
  EXPECT_EQ(replaced("\xc3"), 1);              // cut off
  EXPECT_EQ(replaced("\xe4\xb8"), 1);          // cut off after two of three bytes
  EXPECT_EQ(replaced("\xc0\xaf"), 2);          // overlong
  EXPECT_EQ(replaced("\xe0\x80\xaf"), 3);      // overlong
  EXPECT_EQ(replaced("\xed\xa0\x80"), 3);      // a surrogate
  EXPECT_EQ(replaced("\xf4\x90\x80\x80"), 4);  // above U+10FFFF
  EXPECT_EQ(replaced("\xff\xfe"), 2);
  EXPECT_EQ(replaced("\xf0\x9f\x98 ok"), 1);
}

TEST(DecodeUtf8, GoesOnAfterAnIllFormedPart) {
  CodePoints out;
  decode_utf8("\xe4\xb8z\xc3\xa9", out);
  EXPECT_EQ(out, points(U"\xfffdzé"));
}

TEST(AppendUtf8, IsTheInverseOfDecoding) {
  for (const char32_t c :
       {U'\0', U'\x7f', U'\x80', U'\x7ff', U'\x800', U'\xffff', U'\x10000', U'\x10ffff'}) {
    std::string text;
    append_utf8(c, text);
    CodePoints out;
    EXPECT_EQ(decode_utf8(text, out), 0);
    EXPECT_EQ(out, CodePoints{c});
  }
}

TEST(CleanText, RemovesControlsAndUnifiesWhiteSpace) {
  EXPECT_EQ(after(clean_text, std::u32string_view(U"a\0b\tc\u00a0d\u200be\x7f\xfffd\n", 12)),
            points(U"ab c de "));
}

TEST(SplitCjk, SetsOnlyIdeographsApart) {
  EXPECT_EQ(after(split_cjk, U"a中かb"), points(U"a 中 かb"));
}

TEST(StripAccents, DropsMarksOfComposedAndDecomposedLetters) {
  EXPECT_EQ(after(strip_accents, U"é\u0301e\u0301ṩỆ"), points(U"eesE"));
}

TEST(StripAccents, SplitsHangulIntoJamo) {
  EXPECT_EQ(after(strip_accents, U"각"), points(U"\u1100\u1161\u11a8"));
}

TEST(StripAccents, KeepsOtherMarksInCanonicalOrder) {
  // In the text only, U+302E (class 224, spacing) comes before U+1D165 (class 216, spacing).
  EXPECT_EQ(after(strip_accents, U"a\u302e\U0001d165"), points(U"a\U0001d165\u302e"));
  // The grapheme joiner is dropped. As a starter it still stops the marks around it from being reordered.
  EXPECT_EQ(after(strip_accents, U"a\u302e\u034f\U0001d165"), points(U"a\u302e\U0001d165"));
}

TEST(Lowercase, HasNoContext) {
  EXPECT_EQ(after(lowercase, U"ΟΔΟΣ"), points(U"οδοσ"));
  EXPECT_EQ(after(lowercase, U"İẞ"), points(U"i\u0307ß"));
}

TEST(Normalize, StripsAccentsBeforeItLowersCase) {
  EXPECT_EQ(normalize(Normalization{}, "\xc4\xb0stanbul R\xc3\x89sum\xc3\xa9"), "istanbul resume");
}

TEST(Normalize, DoesNothingUnasked) {
  const Normalization nothing{
      .clean_text = false, .split_cjk = false, .strip_accents = false, .lowercase = false};
  EXPECT_EQ(normalize(nothing, "\tÉ中\x01"), "\tÉ中\x01");
}

}  // namespace
}  // namespace hone
