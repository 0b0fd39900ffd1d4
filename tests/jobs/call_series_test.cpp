#include "hone/jobs/call_series.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

// Returns a series with 30 ms of preparation, a first call of 10 ms and later calls of 2 ms.
CallSeries steady_series(std::size_t calls) {
  CallSeries series{.stages = {{"passes", 20}, {"planning", 10}}, .calls_ms = {10}};
  series.calls_ms.resize(calls, 2);
  return series;
}

TEST(CallSeries, CountsMakingReadyAndTheFirstCallAsAsked) {
  const CallSeries series = steady_series(20);
  EXPECT_EQ(series.preparation_ms(), 30);
  EXPECT_EQ(series.start_ms(), 40);
  EXPECT_DOUBLE_EQ(series.mean_with_preparation_ms(5), (30 + 10 + 4 * 2) / 5.0);
  EXPECT_DOUBLE_EQ(series.mean_ms(5, 0), (10 + 4 * 2) / 5.0);
  EXPECT_DOUBLE_EQ(series.mean_ms(5, 10), 2);
  EXPECT_EQ(series.cumulative_ms().front(), 40);
  EXPECT_EQ(series.cumulative_ms().back(), 40 + 19 * 2);
}

TEST(CallSeries, ReadsItselfBack) {
  const CallSeries series = steady_series(3), read = from_json<CallSeries>(to_json(series));
  EXPECT_EQ(read.calls_ms, series.calls_ms);
  ASSERT_EQ(read.stages.size(), 2u);
  EXPECT_EQ(read.stages[1].name, "planning");
  EXPECT_EQ(read.stages[1].ms, 10);
}

// 1 to 100 ms after the first call, so the 95th percentile is 95.
TEST(CallSeries, TellsTheMiddleOfWhatIsNotIgnored) {
  CallSeries series{.calls_ms = {1000}};
  for (int i = 100; i >= 1; --i) series.calls_ms.push_back(i);
  const CallSummary summary = summary_of(series, 1);
  EXPECT_EQ(summary.calls, 100u);
  EXPECT_EQ(summary.min_ms, 1);
  EXPECT_EQ(summary.median_ms, 50.5);
  EXPECT_EQ(summary.p95_ms, 95);
  EXPECT_EQ(summary.median_interval->low, 40);
  EXPECT_EQ(summary.median_interval->high, 61);
  // Half of the interval is 10.5 of 50.5 ms, 20.8 times too wide, so 432 times as many calls are needed.
  EXPECT_EQ(summary.calls_for_one_percent, 43'232);
}

TEST(CallSeries, SaysNothingOfTooFewCalls) {
  const CallSummary few = summary_of(steady_series(6), 1);
  EXPECT_FALSE(few.median_interval);
  EXPECT_FALSE(few.p95_ms);
  EXPECT_FALSE(few.calls_for_one_percent);
  const CallSummary some = summary_of(steady_series(20), 1);
  EXPECT_TRUE(some.median_interval);
  EXPECT_FALSE(some.p95_ms) << "of 19 calls none is above 95% of them";
  EXPECT_FALSE(some.calls_for_one_percent) << "they do already";
}

TEST(RoundsToTell, GrowWithTheSpreadAndFallWithTheDistance) {
  std::vector<double> before, near, far;
  for (int i = 0; i < 40; ++i) {
    before.push_back(100);
    near.push_back(100 + (i % 8) - 3.0);  // 97 to 104
    far.push_back(80 + (i % 8) - 3.0);
  }
  const auto of_near = rounds_to_detect(before, near), of_far = rounds_to_detect(before, far);
  ASSERT_TRUE(of_near && of_far);
  EXPECT_EQ(of_far, 6) << "the fewest that have an interval";
  EXPECT_GT(*of_near, 100);
  EXPECT_FALSE(rounds_to_detect(before, before)) << "no distance at all";
}

TEST(BreakEven, IsTheCallAtWhichTheSumsMeet) {
  // 100 ms more at first, 20 ms less per later call: equal totals after the sixth call.
  const BreakEven even = break_even({100, 80, 120}, 0, {20, 10, 40});
  EXPECT_EQ(even.call, 6);
  EXPECT_EQ(even.low, 3);
  EXPECT_EQ(even.high, 13);
  EXPECT_EQ(break_even_text(even), "from call 6 on (3 to 13)");
}

TEST(CallSeries, TellsPhasesFromCallsThatSpread) {
  CallSeries even, phases;
  for (int i = 0; i < 40; ++i) {
    even.calls_ms.push_back(i % 2 == 0 ? 1 : 2);
    phases.calls_ms.push_back(i < 20 ? 1 : 2);
  }
  EXPECT_FALSE(phases_of(even, 0));
  ASSERT_TRUE(phases_of(phases, 0));
  EXPECT_EQ(phases_of(phases, 0)->low, 1);
  EXPECT_EQ(phases_of(phases, 0)->high, 2);
  EXPECT_FALSE(phases_of(phases, 21)) << "19 are too few, and all of one phase";
}

TEST(BreakEven, CountsWhatTheSecondCallPacks) {
  const BreakEven even = break_even({20, 10, 40}, 80, {20, 10, 40});
  EXPECT_EQ(even.call, 6);
  EXPECT_EQ(even.low, 4);
  EXPECT_EQ(even.high, 13);
  // Ahead after the first call, but not for good.
  EXPECT_EQ(break_even({-5, -6, -4}, 25, {10, 10, 10}).call, 3);
  EXPECT_EQ(break_even({5, 4, 6}, -10, {0, 0, 0}).call, 2);
  // The second call gains less than later ones, which is still a gain.
  EXPECT_EQ(break_even({-2, -2, -2}, 2.5, {5, 5, 5}).call, 1);
  EXPECT_EQ(break_even({2, 2, 2}, 0.5, {5, 5, 5}).call, 2);
}

TEST(BreakEven, IsTheFirstCallOrNever) {
  EXPECT_EQ(break_even_text(break_even({-5, -6, -4}, 0, {1, 0.5, 2})), "from the first call on");
  const BreakEven never = break_even({5, 4, 6}, 0, {-1, -2, -0.5});
  EXPECT_FALSE(never.call);
  EXPECT_FALSE(never.high);
  EXPECT_EQ(break_even_text(never), "never in these measurements");
  const BreakEven unclear = break_even({5, 4, 6}, 0, {1, -1, 2});
  EXPECT_EQ(break_even_text(unclear), "from call 6 on (3 at the earliest, perhaps never)");
}

}  // namespace
}  // namespace hone
