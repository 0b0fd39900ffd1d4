#include "hone/report/figure_places.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

namespace hone {
namespace {

Panel panel_of(std::vector<Series> series) {
  return {.x = {.label = "x", .range = Range{0, 10}},
          .y = {.label = "y", .range = Range{0, 10}},
          .series = std::move(series)};
}

PanelLayout laid_out(const Panel& panel) { return lay_out({.panels = {panel}}).panels[0]; }

// Returns the distance of two points in pixels.
double apart(const PanelLayout& layout, const Place& a, const Place& b) {
  return std::hypot(layout.pixel_x(a.x) - layout.pixel_x(b.x),
                    layout.pixel_y(a.y) - layout.pixel_y(b.y));
}

Point named(double x, double y, const std::string& name) {
  Point point{x, y};
  point.name = name;
  return point;
}

TEST(Places, PointsOfDifferentSeriesThatCoincideStandBesideEachOther) {
  const PanelLayout layout = laid_out(panel_of({{.label = "a", .points = {{1, 5}, {4, 5}}},
                                                {.label = "b", .points = {{1, 5}, {4, 2}}},
                                                {.label = "c", .points = {{1, 5}, {8, 5}}}}));
  const auto& places = layout.places;
  EXPECT_EQ(places[0][0].x, 1) << "the first stays";
  for (const auto& [one, other] : {std::pair{0, 1}, {0, 2}, {1, 2}})
    EXPECT_GE(apart(layout, places[one][0], places[other][0]), 8);
  for (const std::vector<Place>& series : places) EXPECT_EQ(series[0].y, 5) << "only sideways";
  EXPECT_EQ(places[1][1].x, 4) << "what covers nothing stays";
  EXPECT_EQ(places[2][1].x, 8);
}

TEST(Places, IntervalsThatOverlapStandBesideEachOther) {
  const Series low{.label = "a", .points = {{5, 2, 1, 6}}, .spread = Spread::bars};
  const Series high{.label = "b", .points = {{5, 8, 4, 9}}, .spread = Spread::bars};
  const PanelLayout layout = laid_out(panel_of({low, high}));
  EXPECT_GE(layout.pixel_x(layout.places[1][0].x) - layout.pixel_x(5), 8);
}

TEST(Places, DotsOfOneSeriesAtTheSamePlaceAreAllSeen) {
  const Series dots{.label = "a", .points = {{5, 5}, {5, 5}, {5, 5}, {5, 5}}, .draw = Draw::points};
  const PanelLayout layout = laid_out(panel_of({dots}));
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t j = 0; j < i; ++j)
      EXPECT_GE(apart(layout, layout.places[0][i], layout.places[0][j]), 8) << i << " " << j;
}

// A point far from its value would seem to belong to another epoch.
TEST(Places, AreNearTheirNumberHoweverManyCoincide) {
  std::vector<Series> series(12, {.label = "a", .points = {{5, 5}}});
  const PanelLayout layout = laid_out(panel_of(series));
  for (std::size_t i = 0; i < series.size(); ++i) {
    EXPECT_LE(std::abs(layout.pixel_x(layout.places[i][0].x) - layout.pixel_x(5)), 18.001) << i;
    for (std::size_t j = 0; j < i; ++j)
      EXPECT_GE(apart(layout, layout.places[i][0], layout.places[j][0]), 1) << i << " " << j;
  }
}

// At the left edge the only free place is beyond the larger value.
TEST(Places, PassNoPointOfAnotherNumber) {
  Panel panel = panel_of(
      {{.label = "baseline", .points = {{3.3, 0}}, .draw = Draw::points},
       {.label = "kept", .points = {{0.3, 5, 2, 8}}, .draw = Draw::points, .spread = Spread::bars},
       {.label = "chosen",
        .points = {{0.23, 5, 2, 8}},
        .draw = Draw::points,
        .spread = Spread::bars}});
  panel.x.range = Range{0.2, 3.4};
  const auto narrow = narrow_figure({.panels = {panel}});
  ASSERT_TRUE(narrow.has_value());
  const PanelLayout layout = lay_out(*narrow).panels[0];
  EXPECT_LT(layout.pixel_x(0.3) - layout.pixel_x(0.23), 8) << "the markers would not overlap";
  EXPECT_LT(layout.places[2][0].x, layout.places[1][0].x);
}

// On a phone two tested values are 25 pixels apart.
TEST(Places, AreNearerToTheirNumberThanToTheNext) {
  std::vector<Series> series(4, {.label = "a"});
  for (Series& one : series)
    for (int i = 1; i <= 9; ++i) one.points.push_back({static_cast<double>(i), 5});
  const auto narrow = narrow_figure({.panels = {panel_of(series)}});
  ASSERT_TRUE(narrow.has_value());
  const PanelLayout layout = lay_out(*narrow).panels[0];
  for (const std::vector<Place>& places : layout.places)
    for (int i = 2; i <= 8; ++i) EXPECT_NEAR(places[static_cast<std::size_t>(i - 1)].x, i, 0.401);
}

TEST(Places, AreBesideTheNameTheyBelongTo) {
  Panel panel = panel_of(
      {{.label = "a", .points = std::vector<Point>(9, Point{5, 5}), .draw = Draw::points}});
  panel.x.ticks = {{5, "test"}};
  const PanelLayout layout = laid_out(panel);
  for (std::size_t i = 0; i < 9; ++i)
    for (std::size_t j = 0; j < i; ++j)
      EXPECT_GE(apart(layout, layout.places[0][i], layout.places[0][j]), 8) << i << " " << j;
}

TEST(Places, StayInThePlot) {
  std::vector<Series> series;
  for (const char* label : {"a", "b", "c", "d"})
    series.push_back({.label = label, .points = {{0, 5}}});
  const PanelLayout layout = laid_out(panel_of(series));
  for (const std::vector<Place>& places : layout.places) EXPECT_GE(places[0].x, 0);
}

TEST(Places, LinesOfManyPointsAreLeftAlone) {
  const PanelLayout layout =
      laid_out(panel_of({{.label = "a", .points = {{5, 5}}},
                         {.label = "b", .points = {{5, 5}}, .draw = Draw::line},
                         {.label = "c", .points = {{5, 5}}, .draw = Draw::edge}}));
  EXPECT_EQ(layout.places[1][0].x, 5);
  EXPECT_EQ(layout.places[2][0].x, 5);
}

TEST(Places, BarsShareTheRoomOfARow) {
  const Series input{.label = "input", .points = {{3, 5}}, .draw = Draw::bars};
  const Series weight{.label = "weight", .points = {{4, 5}}, .draw = Draw::bars};
  const PanelLayout both = laid_out(panel_of({input, weight})), alone = laid_out(panel_of({input}));
  EXPECT_EQ(alone.places[0][0].y, 5);
  EXPECT_GT(both.places[0][0].y, both.places[1][0].y) << "the first above";
  EXPECT_NEAR(both.places[0][0].y + both.places[1][0].y, 10, 1e-9);
  EXPECT_EQ(both.places[0][0].x, 3);
}

Box box_of(const PointName& name) {
  const double half = kNameSize / 2.0;
  return {name.x, name.y - half, name.x + text_width(name.text, kNameSize), name.y + half};
}

TEST(Names, CoverNeitherEachOtherNorMarkersNorTheEdge) {
  Series edge{.label = "edge", .draw = Draw::edge, .with_names = true};
  Series points{.label = "points", .draw = Draw::points, .with_names = true};
  for (int i = 0; i < 90; ++i)
    points.points.push_back(
        named(1 + 0.09 * i, 1 + 0.09 * ((i * 7) % 90), fmt::format("mxint(bits={})", i)));
  edge.points = {named(1, 2, "a"), named(4, 6, "b"), named(9, 9.5, "c")};
  const Panel panel = panel_of({edge, points});
  const PanelLayout layout = laid_out(panel);
  EXPECT_GE(layout.names.size(), 10) << "there is room for some";
  EXPECT_LT(layout.names.size(), 93) << "not for all";
  EXPECT_EQ(layout.names[0].text, "a") << "the first series first";
  const std::vector<Pixel> lines = curve_pixels(panel, layout);
  for (std::size_t i = 0; i < layout.names.size(); ++i) {
    const Box box = box_of(layout.names[i]);
    EXPECT_GE(box.left, layout.plot.left);
    EXPECT_LE(box.right, layout.plot.right);
    for (std::size_t j = 0; j < i; ++j) EXPECT_FALSE(overlap(box, box_of(layout.names[j])));
    for (const Place& place : layout.places[1]) {
      const double x = layout.pixel_x(place.x), y = layout.pixel_y(place.y);
      EXPECT_FALSE(overlap(box, {x - 4, y - 4, x + 4, y + 4})) << layout.names[i].text;
    }
    for (const Pixel& pixel : lines)
      EXPECT_FALSE(overlap(box, {pixel.x, pixel.y, pixel.x, pixel.y})) << layout.names[i].text;
  }
}

TEST(Names, AreWrittenOnceAndOnlyWhereAskedFor) {
  const std::vector<Point> points = {named(2, 5, "one"), named(7, 5, "two")};
  const Series edge{.label = "e", .points = {points[0]}, .draw = Draw::edge, .with_names = true};
  const Series all{.label = "a", .points = points, .draw = Draw::points, .with_names = true};
  const Series silent{.label = "s", .points = {named(5, 8, "three")}, .draw = Draw::points};
  std::vector<std::string> names;
  for (const PointName& name : laid_out(panel_of({edge, all, silent})).names)
    names.push_back(name.text);
  EXPECT_EQ(names, (std::vector<std::string>{"one", "two"}));
}

TEST(Names, OfBarsAreWrittenAtEachEvenWhereTheyAreEqual) {
  Series bars{.label = "b", .draw = Draw::bars, .with_names = true};
  bars.points = {named(9.9, 8, "9.90%"), named(9.9, 5, "9.90%"), named(3, 2, "3.00%")};
  Panel panel = panel_of({bars});
  const PanelLayout layout = laid_out(panel);
  ASSERT_EQ(layout.names.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    const double end = layout.pixel_x(bars.points[i].x);
    EXPECT_GT(layout.names[i].x, end) << "behind its end, for which the axis goes on";
    EXPECT_NEAR(layout.names[i].y, layout.pixel_y(bars.points[i].y), 1e-9);
  }
}

}  // namespace
}  // namespace hone
