#include "hone/report/smoothed_curve.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

std::vector<Point> zigzag(int count) {
  std::vector<Point> points;
  for (int i = 0; i < count; ++i)
    points.push_back({static_cast<double>(i), i % 2 == 0 ? 1.0 : 3.0});
  return points;
}

TEST(Thinned, TakesMeansOfNeighbours) {
  const ThinnedPoints all = thinned(zigzag(10), 10), few = thinned(zigzag(10), 4);
  EXPECT_EQ(all.mean_of, 1);
  EXPECT_EQ(all.points.size(), 10);
  EXPECT_EQ(few.mean_of, 3);
  ASSERT_EQ(few.points.size(), 4);
  EXPECT_EQ(few.points[0].x, 1);
  EXPECT_DOUBLE_EQ(few.points[0].y, 5.0 / 3);
  EXPECT_EQ(few.points[3].y, 3) << "the last of one alone";
  EXPECT_TRUE(thinned({}, 4).points.empty());
}

TEST(ScatteredCurve, IsFaintBehindItsMeans) {
  const std::vector<Series> curve = smoothed_curve("loss", zigzag(400));
  ASSERT_EQ(curve.size(), 2);
  EXPECT_EQ(curve[0].draw, Draw::faint);
  EXPECT_EQ(curve[0].points[7].y, 3);
  EXPECT_EQ(curve[1].label, curve[0].label);
  for (const Point& point : curve[1].points) EXPECT_NEAR(point.y, 2, 0.1) << "at the ends too";
}

// A curve of a few dozen steps is smoothed, too.
TEST(ScatteredCurve, SmoothsFewPointsOverTheirNeighbours) {
  const std::vector<Series> curve = smoothed_curve("loss", zigzag(34));
  ASSERT_EQ(curve.size(), 2);
  EXPECT_EQ(curve[0].draw, Draw::faint);
  for (std::size_t i = 4; i < 30; ++i) EXPECT_NEAR(curve[1].points[i].y, 2, 0.12);
  EXPECT_EQ(smoothed_curve("loss", zigzag(8)).size(), 2);
}

TEST(ScatteredCurve, OfVeryFewPointsIsOneLine) {
  const std::vector<Series> curve = smoothed_curve("loss", zigzag(7));
  ASSERT_EQ(curve.size(), 1);
  EXPECT_EQ(curve[0].draw, Draw::line);
}

}  // namespace
}  // namespace hone
