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

}  // namespace
}  // namespace hone
