#include "hone/report/figure_points.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

std::size_t times(const std::string& text, std::string_view what) {
  std::size_t found = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1))
    ++found;
  return found;
}

std::string svg_of(const Panel& panel) {
  const Figure figure{.panels = {panel}};
  return points_svg(figure, lay_out(figure));
}

TEST(PointText, TellsSeriesNameValuesSpreadAndDetail) {
  const Panel panel{.x = {.label = "Width"}, .y = {.label = "Accuracy"}};
  const Series series{.label = "PTQ"};
  EXPECT_EQ(point_text(panel, series, {8, 0.25, 0.125, 0.5, "trial 3", "batch 16"}),
            "PTQ, trial 3: Width 8, Accuracy 0.25 (0.125 to 0.5); batch 16");
  EXPECT_EQ(point_text(panel, {}, {8, 0.25}), "Width 8, Accuracy 0.25");
  EXPECT_EQ(point_text({}, {}, {.name = "trial 3"}), "trial 3");
}

TEST(PointText, CallsValuesAsTheirAxisDoes) {
  const Panel panel{.x = {.label = "Format", .ticks = {{0, "int"}, {1, ""}}}};
  EXPECT_EQ(point_text(panel, {}, {0, 1}), "Format int");
  EXPECT_EQ(point_text(panel, {}, {1, 1}), "Format 1");
}

TEST(PointsSvg, HasACircleWhereEachPointInViewIsDrawn) {
  Panel panel{.x = {.label = "x", .range = Range{0, 10}}, .y = {.label = "y"}};
  panel.series = {{.label = "a", .points = {{1, 1}, {2, kNoValue}, {20, 1}}}};
  const Figure figure{.panels = {panel}, .height = 400};
  const FigureLayout layout = lay_out(figure);
  const PanelLayout& plot = layout.panels[0];
  EXPECT_EQ(points_svg(figure, layout),
            fmt::format("<g class=\"points\" fill=\"transparent\">\n<circle cx=\"{:.1f}\" "
                        "cy=\"{:.1f}\" r=\"5\"><title>a: x 1, y 1</title></circle>\n</g>\n",
                        plot.pixel_x(1), 400 - plot.pixel_y(1)));
}

TEST(PointsSvg, TellsOfLinesWithoutMarkersWhatHasANameOrDetail) {
  Panel panel{.x = {.label = "x"}, .y = {.label = "y"}};
  panel.series = {{.label = "faint", .points = {{1, 1}, {2, 2}}, .draw = Draw::faint},
                  {.label = "edge", .points = {{1, 1}, {2, 2}}, .draw = Draw::edge}};
  EXPECT_EQ(svg_of(panel), "");
  panel.series[0].points[0].detail = "batch 16";
  panel.series[1].points[1].name = "trial 1";
  const std::string svg = svg_of(panel);
  EXPECT_EQ(times(svg, "<title>faint"), 2u) << svg;
  EXPECT_EQ(times(svg, "<title>edge"), 2u) << svg;
}

TEST(PointsSvg, TellsOfALongLineEveryFewPoints) {
  Panel panel{.x = {.label = "x"}, .y = {.label = "y"}};
  panel.series = {{.points = {}, .draw = Draw::line}};
  for (int i = 0; i < 1000; ++i) panel.series[0].points.push_back({static_cast<double>(i), 0.5});
  EXPECT_EQ(times(svg_of(panel), "<circle"), 334u);
  panel.series[0].draw = Draw::curve;
  EXPECT_EQ(times(svg_of(panel), "<circle"), 1000u);
}

TEST(PointsSvg, EscapesWhatItTells) {
  Panel panel;
  panel.series = {{.points = {{.x = 1, .y = 1, .name = "a<b & \"c\""}}}};
  EXPECT_NE(svg_of(panel).find("<title>a&lt;b &amp; &quot;c&quot;</title>"), std::string::npos);
}

}  // namespace
}  // namespace hone
