#include "hone/report/inline_code.h"

#include <gtest/gtest.h>

#include "hone/report/document.h"

namespace hone {
namespace {

std::string shown(std::string_view text) {
  std::string all;
  for (const InlinePart& part : inline_parts(text))
    all += (part.is_code ? "<" : "(") + std::string(part.text) + (part.is_code ? ">" : ")");
  return all;
}

TEST(InlineCode, IsBetweenTwoBackticksOfALine) {
  EXPECT_EQ(shown("Repeat with `hone bench` on `m`."), "(Repeat with )<hone bench>( on )<m>(.)");
  EXPECT_EQ(shown("`all`"), "<all>");
  EXPECT_EQ(shown(""), "");
  EXPECT_EQ(shown("one ` alone"), "(one ` alone)");
  EXPECT_EQ(shown("over `two\nlines`"), "(over `two\nlines`)");
  EXPECT_EQ(shown("empty `` then `x`"), "(empty `` then )<x>");
}

TEST(InlineCode, IsCodeOnPagesAndInMarkdown) {
  const std::string sentence = "Repeat with `hone bench --a *b*` on <idle> machines.";
  Document document{.title = "t", .headline = sentence, .evidence = sentence};
  document.sections = {{"S", {Paragraph{sentence}, Facts{{{"Name", sentence}}}}}};
  document.notes = {sentence};
  const std::string html = to_html(document), markdown = to_markdown(document);
  const auto count = [](const std::string& text, std::string_view part) {
    int found = 0;
    for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++found;
    return found;
  };
  EXPECT_EQ(count(html, "<code>hone bench --a *b*</code>"), 5) << html;
  EXPECT_EQ(count(markdown, "`hone bench --a *b*` on \\<idle>"), 5) << markdown;
  EXPECT_NE(to_text(document).find(sentence), std::string::npos);
}

}  // namespace
}  // namespace hone
