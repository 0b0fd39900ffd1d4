#include "hone/report/html_text.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

TEST(HtmlText, EscapesWhatHtmlGivesAMeaning) {
  EXPECT_EQ(html_text("<b title=\"x\">R&D's</b>"),
            "&lt;b title=&quot;x&quot;&gt;R&amp;D&#39;s&lt;/b&gt;");
}

TEST(HtmlText, LeavesOtherTextAlone) {
  EXPECT_EQ(html_text("größer – 4,386,178\tλ\n🙂"), "größer – 4,386,178\tλ\n🙂");
  EXPECT_EQ(html_text(""), "");
}

TEST(HtmlText, ReplacesWhatIsNoText) {
  EXPECT_EQ(html_text("a\xFF\xC3z"), "a\uFFFD\uFFFDz");
  EXPECT_EQ(html_text(std::string("a\0b\x1B[1m\x7F", 8)), "a\uFFFDb\uFFFD[1m\uFFFD");
  EXPECT_EQ(html_text("\xED\xA0\x80"), "\uFFFD\uFFFD\uFFFD");  // half of a surrogate pair
}

}  // namespace
}  // namespace hone
