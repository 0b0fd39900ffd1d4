#include "hone/report/crowded_figure.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace hone {
namespace {

Figure figure_of(std::vector<Series> series) {
  return {.title = "Widths", .panels = {{.series = std::move(series)}}};
}

Series curve(const std::vector<double>& values, double spread = 0) {
  Series series;
  for (std::size_t i = 0; i < values.size(); ++i)
    series.points.push_back(
        {static_cast<double>(i), values[i], values[i] - spread, values[i] + spread});
  return series;
}

TEST(CrowdedFigure, ZoomsToWhereCurvesLieCloseWithTheirSpreads) {
  const auto zoomed =
      zoomed_to_crowd(figure_of({curve({50, 79, 80, 80}, 1), curve({50, 70, 78, 79}, 1)}));
  ASSERT_TRUE(zoomed.has_value());
  const std::optional<Range> range = zoomed->panels[0].y.range;
  ASSERT_TRUE(range.has_value());
  // Six of the eight points are between 70 and 80, with intervals from 69 to 81.
  EXPECT_NEAR(range->low, 69 - 0.6, 1e-9);
  EXPECT_NEAR(range->high, 81 + 0.6, 1e-9);
  EXPECT_EQ(zoomed->title, "Widths, where values lie close");
}

// Most values are 70 and 71, but the best is 78 and must stay visible.
TEST(CrowdedFigure, ContainsTheBestCurve) {
  const std::vector<Series> series = {curve({10, 70, 70.5, 71}), curve({10, 70, 71, 71}),
                                      curve({10, 70, 71, 78})};
  const auto zoomed_range = [&](BetterEnd better) {
    Figure figure = figure_of(series);
    figure.panels[0].y.better = better;
    return zoomed_to_crowd(figure).value().panels[0].y.range.value();
  };
  EXPECT_LT(zoomed_range(BetterEnd::unknown).high, 77);
  EXPECT_GT(zoomed_range(BetterEnd::high).high, 78);
  EXPECT_LT(zoomed_range(BetterEnd::high).low, 70);
  // For losses the low end is the better one. Most points are far from it, so there is no zoom.
  Figure losses = figure_of(series);
  losses.panels[0].y.better = BetterEnd::low;
  EXPECT_FALSE(zoomed_to_crowd(losses));
}

TEST(CrowdedFigure, LeavesOthersAsTheyAre) {
  EXPECT_FALSE(zoomed_to_crowd(figure_of({curve({50, 80, 80, 80, 80, 80, 80})})));
  EXPECT_FALSE(zoomed_to_crowd(figure_of({curve({10, 20, 30, 40}), curve({15, 25, 35, 45})})));
  EXPECT_FALSE(zoomed_to_crowd(figure_of({curve({80, 80, 80, 80}), curve({80, 80, 80, 80})})));
  // Intervals longer than half of the range would be cut off.
  EXPECT_FALSE(
      zoomed_to_crowd(figure_of({curve({50, 80, 80, 80}, 20), curve({50, 80, 80, 80}, 20)})));
  EXPECT_FALSE(zoomed_to_crowd(figure_of({curve({50, 80}), curve({80})})));
  EXPECT_FALSE(zoomed_to_crowd(figure_of({curve({50, 80, 80, 80}), curve({50, 81, 81, 81})})));
  const double almost = std::nextafter(80.0, 81.0);
  EXPECT_FALSE(
      zoomed_to_crowd(figure_of({curve({50, 80, 80, 80}), curve({50, almost, 80, almost})})));
}

TEST(CrowdedFigure, CountsNoPointsThatAreNotDrawn) {
  Series gaps = curve({kNoValue, 79, 80, 80});
  gaps.points[1].x = kNoValue;
  EXPECT_FALSE(zoomed_to_crowd(figure_of({gaps, curve({50, 80, 80})})));
}

// A baseline right below the crowd stays visible for comparison. One far below would undo the zoom, so the note names
// it instead.
TEST(CrowdedFigure, KeepsNearReferencesAndNamesThoseOutside) {
  Figure figure = figure_of({curve({50, 79, 80, 80}, 1), curve({50, 70, 78, 79}, 1)});
  figure.note = "The circle marks the highest value.";
  figure.panels[0].references = {{68, "fp32"}, {50.05, "most frequent class"}};
  figure.panels[0].series.push_back({.label = "binary", .points = {{0, 50}}});
  figure.panels[0].y.better = BetterEnd::high;
  const auto zoomed = zoomed_to_crowd(figure);
  ASSERT_TRUE(zoomed.has_value());
  const Range range = zoomed->panels[0].y.range.value();
  EXPECT_LT(range.low, 68);
  EXPECT_GT(range.low, 60);
  EXPECT_EQ(zoomed->note,
            "The circle marks the highest value. Outside this range: most frequent class 50.05, "
            "binary.");
}

// Trials with a far lower accuracy are hidden in every panel, whatever their bits.
TEST(CrowdedFigure, ShowsTheSamePointsInEveryPanelOfTheSameX) {
  Series trials = curve({10, 70, 30, 71, 72, 71}), best = curve({10, 70, 70, 71, 72, 72});
  trials.label = "a trial", best.label = "best so far";
  Figure figure = figure_of({trials, best});
  figure.panels[0].y.better = BetterEnd::high;
  Panel bits = figure.panels[0], seconds = figure.panels[0];
  bits.series[0].points = curve({30, 8, 9, 4, 6, 5}).points;
  bits.series[1].points = curve({30, 8, 8, 4, 6, 6}).points;
  bits.y.better = BetterEnd::low;
  seconds.x.label = "Seconds";
  seconds.series = {curve({1, 2, 3, 4, 5, 6}), curve({1, 2, 3, 4, 5, 6})};
  figure.panels.push_back(bits);
  figure.panels.push_back(seconds);
  const Figure zoomed = zoomed_to_crowd(figure).value();
  const Range accuracy = zoomed.panels[0].y.range.value(), range = zoomed.panels[1].y.range.value();
  const std::vector<Point>& shown = zoomed.panels[1].series[0].points;
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const double y = trials.points[i].y;
    EXPECT_EQ(std::isfinite(shown[i].y), accuracy.low <= y && y <= accuracy.high) << i;
    EXPECT_EQ(shown[i].x, trials.points[i].x) << "the axis stays";
  }
  EXPECT_NEAR(range.low, 4 - 0.2, 1e-9);
  EXPECT_NEAR(range.high, 8 + 0.2, 1e-9);
  EXPECT_FALSE(zoomed.panels[2].y.range) << "a panel of another x stays as it is";
  EXPECT_EQ(zoomed.panels[2].series[0].points.size(), 6U);
}

TEST(CrowdedFigure, FollowsTheFirstPanel) {
  const Series even = curve({10, 20, 30, 40}), crowded = curve({50, 79, 79.5, 80});
  Figure figure = figure_of({even, even});
  figure.panels.push_back(figure_of({crowded, crowded}).panels[0]);
  EXPECT_FALSE(zoomed_to_crowd(figure));
  std::ranges::reverse(figure.panels);
  EXPECT_TRUE(zoomed_to_crowd(figure));
}

}  // namespace
}  // namespace hone
