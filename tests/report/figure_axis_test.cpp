#include "hone/report/figure_axis.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "hone/base/error.h"

namespace hone {
namespace {

std::vector<std::string> labels(const AxisView& view) {
  std::vector<std::string> result;
  for (const Tick& tick : view.ticks) result.push_back(tick.label);
  return result;
}

using Labels = std::vector<std::string>;

TEST(TickText, IsShort) {
  EXPECT_EQ(tick_text(0), "0");
  EXPECT_EQ(tick_text(0.1 + 0.2), "0.3");
  EXPECT_EQ(tick_text(84.5), "84.5");
  EXPECT_EQ(tick_text(-3), "−3");
  EXPECT_EQ(tick_text(25000), "25,000");
  EXPECT_EQ(tick_text(1e-4), "0.0001");
  EXPECT_EQ(tick_text(1e-7), "10⁻⁷");
  EXPECT_EQ(tick_text(2e12), "2·10¹²");
  EXPECT_EQ(tick_text(83.8002), "83.8002");
}

TEST(ViewAxis, LinearTicksAreRoundNumbersInside) {
  const std::vector<double> values = {50.6, 84.2};
  EXPECT_EQ(labels(view_axis({}, values, 5, false)), (Labels{"50", "60", "70", "80"}));
  EXPECT_EQ(labels(view_axis({}, values, 8, false)),
            (Labels{"50", "55", "60", "65", "70", "75", "80", "85"}));
  const std::vector<double> small = {0.29, 0.71};
  EXPECT_EQ(labels(view_axis({}, small, 5, false)), (Labels{"0.3", "0.4", "0.5", "0.6", "0.7"}));
}

TEST(ViewAxis, OfWholeNumbersHasWholeTicks) {
  const std::vector<double> trials = {0, 1, 2, 3};
  EXPECT_EQ(labels(view_axis({}, trials, 12, false)), (Labels{"0", "1", "2", "3"}));
  const std::vector<double> one = {5};
  EXPECT_EQ(labels(view_axis({}, one, 12, false)), (Labels{"5"}));
}

TEST(ViewAxis, HasWholeTicksWhereItIsAskedForThem) {
  const std::vector<double> epochs = {0.2, 1.1, 2.9};
  EXPECT_EQ(labels(view_axis({.whole_ticks = true}, epochs, 12, false)), (Labels{"1", "2", "3"}));
  // Less than one epoch contains no whole tick.
  const std::vector<double> part = {0.1, 0.4};
  EXPECT_GT(view_axis({.whole_ticks = true}, part, 12, false).ticks.size(), 2u);
}

TEST(ViewAxis, HasTwoTicksWhereThereIsLittleRoom) {
  const std::vector<double> values = {0, 4.11};
  EXPECT_EQ(labels(view_axis({}, values, 2, false)), (Labels{"0", "2", "4"}));
}

TEST(ViewAxis, HasNeverManyMoreTicksThanAsked) {
  for (double high = 1; high < 100; high += 0.37) {
    for (int count : {2, 5, 9}) {
      const std::vector<double> values = {-1, high};
      const std::size_t ticks = view_axis({}, values, count, false).ticks.size();
      EXPECT_GE(ticks, 1u) << high;
      EXPECT_LE(ticks, count + 1u) << high;
    }
  }
}

TEST(ViewAxis, LeavesRoomAroundTheValues) {
  const std::vector<double> values = {10, 20, kNoValue};
  const AxisView view = view_axis({}, values, 5, false);
  EXPECT_DOUBLE_EQ(view.range.low, 9.5);
  EXPECT_DOUBLE_EQ(view.range.high, 20.5);
}

TEST(ViewAxis, LeavesNoRoomBelowZeroForWhatIsNotNegative) {
  const std::vector<double> counts = {0, 100}, balanced = {-1, 100};
  EXPECT_EQ(view_axis({}, counts, 5, false).range.low, 0);
  EXPECT_LT(view_axis({}, balanced, 5, false).range.low, -1);
}

TEST(ViewAxis, ShowsASingleValue) {
  for (double value : {0.0, 5.0, -5.0}) {
    const std::vector<double> values = {value};
    const AxisView view = view_axis({}, values, 5, false);
    EXPECT_LT(view.range.low, value);
    EXPECT_GT(view.range.high, value);
    EXPECT_NEAR(view.fraction(value), 0.5, 1e-6);
  }
}

TEST(ViewAxis, TakesWhatDiffersInItsLastBitsForOneValue) {
  const std::vector<double> values = {0.4625, std::nextafter(0.4625, 1.0)};
  const AxisView view = view_axis({}, values, 5, false);
  EXPECT_LT(view.range.low, 0.45);
  EXPECT_GE(view.ticks.size(), 2U);
  const Axis narrow = {.range = Range{0.4625, std::nextafter(0.4625, 1.0)}};
  EXPECT_TRUE(view_axis(narrow, values, 5, false).ticks.empty());
}

TEST(ViewAxis, LogarithmicTicksArePowersOfTen) {
  const std::vector<double> values = {0.02, 300};
  EXPECT_EQ(labels(view_axis({.logarithmic = true}, values, 9, false)),
            (Labels{"0.1", "1", "10", "100"}));
  const std::vector<double> wide = {1e-9, 1e9};
  EXPECT_EQ(labels(view_axis({.logarithmic = true}, wide, 7, false)),
            (Labels{"10⁻⁹", "10⁻⁶", "0.001", "1", "1,000", "1,000,000", "10⁹"}));
}

TEST(ViewAxis, ShortLogarithmicAxesHaveTicksBetween) {
  const std::vector<double> values = {3, 40};
  EXPECT_EQ(labels(view_axis({.logarithmic = true}, values, 7, false)), (Labels{"5", "10", "20"}));
}

TEST(ViewAxis, VeryShortLogarithmicAxesHaveTicksOfLinearOnes) {
  const std::vector<double> values = {1.5, 2.6};
  const Labels shown = labels(view_axis({.logarithmic = true}, values, 5, false));
  EXPECT_GE(shown.size(), 3u);
  EXPECT_NE(std::ranges::find(shown, "2"), shown.end());
}

TEST(ViewAxis, LogarithmicFractionsAreEqualForEqualFactors) {
  const AxisView view = view_axis({.logarithmic = true, .range = Range{1, 1000}}, {}, 5, false);
  EXPECT_NEAR(view.fraction(10), 1.0 / 3, 1e-15);
  EXPECT_NEAR(view.fraction(100), 2.0 / 3, 1e-15);
}

TEST(ViewAxis, ZeroHasAPlaceOnALogarithmicAxis) {
  const std::vector<double> values = {0, 0.01, 10, -1};
  const AxisView view = view_axis({.logarithmic = true}, values, 9, true);
  EXPECT_TRUE(view.zero_at_low);
  EXPECT_EQ(view.fraction(0), 0);
  EXPECT_GT(view.fraction(0.01), 0.1) << "the least value must stand apart from zero";
  EXPECT_EQ(labels(view), (Labels{"0", "0.01", "0.1", "1", "10"}));
  EXPECT_EQ(view.ticks[0].value, view.range.low);
  EXPECT_FALSE(view_axis({.logarithmic = true}, values, 9, false).zero_at_low);
}

TEST(ViewAxis, TakesRangeAndTicksAsGiven) {
  const std::vector<double> values = {0, 100};
  const Axis axis{.range = Range{80, 85}, .ticks = {{81, "low"}, {84, "high"}}};
  const AxisView view = view_axis(axis, values, 5, false);
  EXPECT_EQ(view.range.low, 80);
  EXPECT_EQ(view.range.high, 85);
  EXPECT_EQ(labels(view), (Labels{"low", "high"}));
}

TEST(ViewAxis, ShowsSomethingWithoutValues) {
  EXPECT_EQ(view_axis({}, {}, 5, false).range.high, 1);
  EXPECT_GT(view_axis({.logarithmic = true}, {}, 5, false).range.low, 0);
}

TEST(ViewAxis, RefusesRangesThatCannotBeShown) {
  try {
    view_axis({.label = "Flips", .range = Range{3, 3}}, {}, 5, false);
    FAIL() << "an empty range was accepted";
  } catch (const UserError& error) {
    EXPECT_STREQ(error.what(),
                 "figure: axis 'Flips' cannot show the range 3 to 3; low must be less than high");
  }
  try {
    view_axis({.label = "Flips", .logarithmic = true, .range = Range{0, 3}}, {}, 5, false);
    FAIL() << "a logarithmic axis from 0 was accepted";
  } catch (const UserError& error) {
    EXPECT_STREQ(error.what(),
                 "figure: axis 'Flips' cannot show the range 0 to 3; a logarithmic axis needs 0 < "
                 "low < high");
  }
}

}  // namespace
}  // namespace hone
