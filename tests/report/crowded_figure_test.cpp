#include "hone/report/crowded_figure.h"

#include <gtest/gtest.h>

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
  // Six of the eight points lie between 70 and 80, and take 69 to 81.
  EXPECT_NEAR(range->low, 69 - 0.6, 1e-9);
  EXPECT_NEAR(range->high, 81 + 0.6, 1e-9);
  EXPECT_EQ(zoomed->title, "Widths, where values lie close");
}

TEST(CrowdedFigure, LeavesOthersAsTheyAre) {
  EXPECT_FALSE(zoomed_to_crowd(figure_of({curve({50, 80, 80, 80, 80, 80, 80})})));
  EXPECT_FALSE(zoomed_to_crowd(figure_of({curve({10, 20, 30, 40}), curve({15, 25, 35, 45})})));
  EXPECT_FALSE(zoomed_to_crowd(figure_of({curve({80, 80, 80, 80}), curve({80, 80, 80, 80})})));
  // Intervals that reach over half of the whole would be cut off.
  EXPECT_FALSE(
      zoomed_to_crowd(figure_of({curve({50, 80, 80, 80}, 20), curve({50, 80, 80, 80}, 20)})));
  EXPECT_FALSE(zoomed_to_crowd(figure_of({curve({50, 80}), curve({80})})));
  const double almost = std::nextafter(80.0, 81.0);
  EXPECT_FALSE(
      zoomed_to_crowd(figure_of({curve({50, 80, 80, 80}), curve({50, almost, 80, almost})})));
}

TEST(CrowdedFigure, CountsNoPointsThatAreNotDrawn) {
  Series gaps = curve({kNoValue, 79, 80, 80});
  gaps.points[1].x = kNoValue;
  EXPECT_FALSE(zoomed_to_crowd(figure_of({gaps, curve({50, 80, 80})})));
}

}  // namespace
}  // namespace hone
