#include "hone/text/text_encoding.h"

#include <gtest/gtest.h>

#include "tests/support/expect.h"

namespace hone {
namespace {

using namespace std::string_literals;

std::string decoded(const std::string& bytes, const std::string& encoding,
                    std::int64_t replaced = 0) {
  std::int64_t found = 0;
  std::string text = to_utf8(bytes, encoding, found);
  EXPECT_EQ(found, replaced) << encoding;
  return text;
}

// The bytes come from Python, for example from "café €".encode(...).
TEST(TextEncoding, HasPythonsNames) {
  for (const char* name : {"latin-1", "latin_1", "Latin1", "iso-8859-1", "ISO8859-1", "L1"})
    EXPECT_EQ(decoded("caf\xe9", name), "café") << name;
  for (const char* name : {"windows-1252", "cp1252", "CP1252"})
    EXPECT_EQ(decoded("\x80 caf\xe9", name), "€ café") << name;
  for (const char* name : {"utf-8", "utf8", "UTF_8", "utf-8-sig"})
    EXPECT_EQ(decoded("café", name), "café") << name;
  EXPECT_EQ(decoded("\x83\x65", "shift_jis"), "テ");
  EXPECT_EQ(decoded("\xc4\xe3", "gbk"), "你");
  EXPECT_EQ(decoded("\xe9\0"s, "utf-16-le"), "é");
  EXPECT_EQ(decoded("\0\xe9"s, "utf_16_be"), "é");
}

TEST(TextEncoding, TakesTheByteOrderOfTheMark) {
  EXPECT_EQ(decoded("\xff\xfe\xe9\0"s, "utf-16"), "é");
  EXPECT_EQ(decoded("\xfe\xff\0\xe9"s, "UTF-16"), "é");
  EXPECT_EQ(encoding_of_mark("\xff\xfe\xe9\0"s), "UTF-16");
  EXPECT_EQ(encoding_of_mark("\xff\xfe\0\0\xe9\0\0\0"s), "UTF-32");
  EXPECT_EQ(encoding_of_mark("\xef\xbb\xbf"
                             "a"),
            "");
}

TEST(TextEncoding, CountsWhatIsMalformed) {
  EXPECT_EQ(decoded("a\x81"
                    "b",
                    "cp1252", 1),
            "a\ufffd"
            "b");
  EXPECT_EQ(decoded("a\0\0\xdc"
                    "b\0"s,
                    "utf-16le", 1),
            "a\ufffd"
            "b")
      << "half of a pair";
  EXPECT_EQ(decoded("a\0b"s, "utf-16le", 1), "a\ufffd") << "cut off";
}

TEST(TextEncoding, RefusesWhatItDoesNotKnow) {
  EXPECT_FALSE(is_text_encoding("klingon"));
  EXPECT_FALSE(is_text_encoding(""));
  EXPECT_FALSE(is_text_encoding("latin1//IGNORE"));
  expect_user_error("`encoding`: 'klingon' is not supported; expected a name such as utf-8", [] {
    std::int64_t replaced = 0;
    to_utf8("a", "klingon", replaced);
  });
}

TEST(TextEncoding, ConvertsLongTexts) {
  const std::string bytes(100'001, '\xe9');
  EXPECT_EQ(decoded(bytes, "latin-1").size(), 2 * bytes.size());
}

}  // namespace
}  // namespace hone
