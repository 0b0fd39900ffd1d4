#include "hone/text/utf8.h"

#include <gtest/gtest.h>

#include "tests/support/expect.h"

namespace hone {
namespace {

TEST(Utf8, IsToldFromOtherBytes) {
  for (const char* text : {"", "plain", "eight by", "caf\xc3\xa9", "long enough text \xe4\xb8\xad",
                           "\xf0\x9f\x98\x80"})
    EXPECT_TRUE(is_utf8(text)) << text;
  for (const char* text : {"\xff", "caf\xe9", "long enough text \xe4\xb8", "\xc0\xaf",
                           "\xed\xa0\x80", "\xf4\x90\x80\x80"})
    EXPECT_FALSE(is_utf8(text)) << text;
}

TEST(Utf8, IsRepairedAndCounted) {
  std::int64_t replaced = 3;
  EXPECT_EQ(repair_utf8("a\xff\xc3\xa9\xe4\xb8z", replaced), "a\xef\xbf\xbd\xc3\xa9\xef\xbf\xbdz");
  EXPECT_EQ(replaced, 5);
}

TEST(Utf8, IsDemandedWithAPlace) {
  const auto where = [] { return std::string("a.csv: line 3"); };
  check_utf8("fine", where);
  expect_user_error(
      "a.csv: line 3: the text is not UTF-8; name its encoding by `encoding`, e.g. latin-1, or "
      "omit `strict_utf8`",
      [&] { check_utf8("caf\xe9", where); });
}

}  // namespace
}  // namespace hone
