#include "hone/report/inline_svg.h"

#include <gtest/gtest.h>

#include "tests/support/expect.h"

namespace hone {
namespace {

constexpr std::string_view kSvg = R"svg(<?xml version="1.0" encoding="utf-8" standalone="no"?>
<svg
 width="400" height="300"
 viewBox="0 0 400 300"
 xmlns="http://www.w3.org/2000/svg"
>
<title>Gnuplot</title>
<desc>Produced by GNUPLOT</desc>
<rect fill="#ffffff"/>
<circle id='dot' stroke='currentColor'/>
<use xlink:href='#dot' color='rgb(  0, 114, 178)'/>
<g stroke="rgb(51,51,51)" filter="url(#dot)" color="black"><text>rgb(1, 2, 3) a="b"</text></g>
<path stroke="#123456" d='M0,0 L1,1'/>
</svg>
)svg";

TEST(InlineSvg, HasColoursThatFollowTheBrowser) {
  const std::string svg = inline_svg(kSvg, "f1-", "a figure");
  for (const char* part : {"<rect fill=\"var(--figure-ground)\"/>",
                           "<circle stroke='currentColor' color='var(--figure-series-1)'/>",
                           "<g stroke=\"var(--figure-ink)\"", "color=\"var(--figure-ink)\""})
    EXPECT_NE(svg.find(part), std::string::npos) << part << " in\n" << svg;
  // Colours that figures do not use are kept.
  EXPECT_NE(svg.find("<path stroke=\"#123456\" d='M0,0 L1,1'/>"), std::string::npos) << svg;
  EXPECT_NE(svg.find("<text>rgb(1, 2, 3) a=\"b\"</text>"), std::string::npos) << svg;
}

TEST(InlineSvg, HasIdsOfItsOwn) {
  const std::string svg = inline_svg(kSvg, "f1-", "a figure");
  for (const char* part : {"id='f1-dot'", "filter=\"url(#f1-dot)\""})
    EXPECT_NE(svg.find(part), std::string::npos) << part << " in\n" << svg;
}

TEST(InlineSvg, DrawsWhatIsUsedItself) {
  const std::string svg = inline_svg(kSvg, "f1-", "a figure");
  EXPECT_EQ(svg.find("<use"), std::string::npos) << svg;
  const std::string unknown = "<svg viewBox=\"0 0 1 1\"><use xlink:href='#other' x='1'/></svg>";
  EXPECT_NE(inline_svg(unknown, "f1-", "d").find("<use xlink:href='#f1-other' x='1'/>"),
            std::string::npos);
}

// gnuplot writes some of its markers like this.
TEST(InlineSvg, TurnsAndMovesWhatIsUsedOfWhatIsUsed) {
  const std::string svg = inline_svg(
      "<svg viewBox=\"0 0 9 9\"><rect id='box' width='2'/>"
      "<use xlink:href='#box' id='turned' stroke='red' transform='rotate(45)'/>"
      "<use xlink:href='#turned' id='full' fill='red'/>"
      "<use xlink:href='#full' transform='translate(3,4)' color='blue'/></svg>",
      "", "d");
  EXPECT_EQ(svg.find("<use"), std::string::npos) << svg;
  EXPECT_NE(svg.find("transform='translate(3,4) rotate(45)'"), std::string::npos) << svg;
  const std::string last = svg.substr(svg.rfind("<rect"));
  for (const char* part : {" width='2'", " stroke='red'", " fill='red'", " color='blue'"})
    EXPECT_NE(last.find(part), std::string::npos) << part << " in " << last;
  EXPECT_EQ(last.find(" id="), std::string::npos) << last;
}

// Returns points as gnuplot writes them, and circles with the titles that figures add.
std::string svg_of_points(std::size_t count) {
  std::string svg = "<svg viewBox=\"0 0 999 9\"><circle id='dot' r='1'/>\n<g color=\"black\">\n";
  for (std::size_t i = 0; i < count; ++i)
    svg += fmt::format(
        "\t<use xlink:href='#dot' transform='translate({}.00,2.25) scale(3)' color='red'/>\n", i);
  svg += "</g>\n<g class=\"points\" fill=\"transparent\">\n";
  for (std::size_t i = 0; i < count; ++i)
    svg += fmt::format("<circle cx=\"{}.0\" cy=\"2.2\" r=\"5\"><title>a &lt; {}</title></circle>\n",
                       i, i);
  return svg + "</g>\n</svg>";
}

TEST(InlineSvg, DrawsAMarkerAtManyPlacesOnce) {
  const std::string svg = inline_svg(svg_of_points(50), "f1-", "d");
  EXPECT_NE(svg.find("<marker id='f1-marker-1'"), std::string::npos) << svg;
  EXPECT_NE(svg.find("points='0,2.2 1,2.2 2,2.2 "), std::string::npos) << svg;
  EXPECT_NE(svg.find("marker:url(#f1-marker-1)"), std::string::npos) << svg;
  EXPECT_NE(svg.find(" r='1' transform=' scale(3)' color='red'/></marker>"), std::string::npos)
      << svg;
  EXPECT_EQ(svg.find("<marker id='f1-marker-2'"), std::string::npos) << svg;
  EXPECT_EQ(inline_svg(svg_of_points(3), "", "d").find("<marker"), std::string::npos);
}

TEST(InlineSvg, ListsManyPointsInsteadOfAnElementForEach) {
  const std::string svg = inline_svg(svg_of_points(500), "", "d"),
                    narrow = inline_svg(svg_of_points(500), "", "d", PointTexts::without);
  EXPECT_EQ(svg.find("<title>"), std::string::npos);
  EXPECT_NE(svg.find("data-at=\"0,2.2 1,2.2 "), std::string::npos);
  EXPECT_NE(svg.find(" data-form=\"a &lt; \xEE\x80\x80\" data-texts=\"0\n1\n2\n"),
            std::string::npos);
  EXPECT_NE(narrow.find("data-at=\"0,2.2 1,2.2 "), std::string::npos);
  EXPECT_EQ(narrow.find("data-texts"), std::string::npos);
  EXPECT_LT(narrow.size(), 500 * 25);
}

// gnuplot writes empty groups for series that it draws in another group.
TEST(InlineSvg, LeavesOutGroupsThatHoldNothing) {
  EXPECT_EQ(inline_svg("<svg viewBox=\"0 0 1 1\"><g id=\"a\"><g color=\"red\">\n</g>\n</g><g "
                       "id=\"b\"><text>x</text></g></svg>",
                       "", "d")
                .find("<g id=\"a\""),
            std::string::npos);
  EXPECT_NE(inline_svg("<svg viewBox=\"0 0 1 1\"><g id=\"b\"><text>x</text></g></svg>", "", "d")
                .find("<g id=\"b\"><text>x</text></g>"),
            std::string::npos);
}

TEST(InlineSvg, IsAnImageWithADescription) {
  const std::string svg = inline_svg(kSvg, "", "x < \"y\"");
  EXPECT_TRUE(
      svg.starts_with("<svg width=\"400\" viewBox=\"0 0 400 300\" role=\"img\" "
                      "aria-label=\"x &lt; &quot;y&quot;\">"))
      << svg;
  EXPECT_TRUE(svg.ends_with("</svg>"));
  for (const char* gone : {"<?xml", "Gnuplot", "GNUPLOT", "height", "xmlns"})
    EXPECT_EQ(svg.find(gone), std::string::npos) << gone << " in\n" << svg;
}

TEST(InlineSvg, KeepsWhatIsToldOfPointsIfAsked) {
  std::string told(kSvg);
  told.insert(told.rfind("</svg>"), "<circle cx=\"1\"><title>PTQ: x 8</title></circle>");
  EXPECT_NE(inline_svg(told, "", "d").find("<circle cx=\"1\"><title>PTQ: x 8</title></circle>"),
            std::string::npos);
  EXPECT_NE(inline_svg(told, "", "d", PointTexts::without).find("<circle cx=\"1\"></circle>"),
            std::string::npos);
}

TEST(InlineSvg, OfSomethingElseIsRefused) {
  for (const char* text : {"", "<svg>", "<svg viewBox=\"0 0 1 1\">", "<html></svg>"})
    expect_user_error("expected an SVG with a viewBox, got '", [&] { inline_svg(text, "", ""); });
}

TEST(InlineSvg, OfADamagedFileEnds) {
  for (std::size_t length = 0; length < kSvg.size(); ++length) {
    const std::string damaged = std::string(kSvg.substr(0, length)) + "</svg>";
    try {
      EXPECT_TRUE(inline_svg(damaged, "p", "d").ends_with("</svg>"));
    } catch (const UserError&) {
      EXPECT_LT(length, kSvg.find("xmlns"));
    }
  }
}

}  // namespace
}  // namespace hone
