#include "hone/jobs/paired_times.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

constexpr std::int64_t kRounds = 12;

/// A clock that only work advances.
struct FakeClock {
  double seconds = 0;
  std::function<void()> work_of(double ms) {
    return [this, ms] { seconds += ms / 1e3; };
  }
  std::function<double()> now() {
    return [this] { return seconds; };
  }
};

TEST(TimesInTurn, AreThoseOfTheClock) {
  FakeClock clock;
  int rounds = 0;
  const TimesInTurn times = time_in_turn(
      clock.work_of(3), clock.work_of(2), kRounds, [&] { ++rounds; }, clock.now());
  EXPECT_EQ(rounds, kRounds);
  EXPECT_NEAR(times.before.min_ms, 3, 1e-9);
  EXPECT_NEAR(times.before.median_ms, 3, 1e-9);
  EXPECT_NEAR(times.after.median_ms, 2, 1e-9);
  EXPECT_NEAR(times.speedup, 1.5, 1e-9);
  EXPECT_TRUE(times.shown_faster());
  EXPECT_FALSE(times.shown_slower());
  EXPECT_EQ(speedup_text(times), "1.50× faster (95% CI 1.50 to 1.50)");
}

TEST(TimesInTurn, RunShortWorkManyTimesARound) {
  FakeClock clock;
  int runs = 0;
  const auto count = [&] {
    ++runs;
    clock.seconds += 1.3e-5;
  };
  const TimesInTurn times = time_in_turn(clock.work_of(5), count, kRounds, {}, clock.now());
  EXPECT_EQ(runs, 2 + 77 * kRounds);
  EXPECT_NEAR(times.after.min_ms, 0.013, 1e-9);
}

// On an occasionally busy machine the interval goes from the third to the tenth of twelve ratios.
TEST(TimesInTurn, ClaimNoMoreThanTheirSpread) {
  FakeClock clock;
  int run = 0;
  const auto jittery = [&] { clock.seconds += ++run % 3 == 0 ? 8e-3 : 4e-3; };
  const TimesInTurn times = time_in_turn(clock.work_of(5), jittery, kRounds, {}, clock.now());
  EXPECT_NEAR(times.speedup, 1.25, 1e-9);
  EXPECT_NEAR(times.speedup_interval.low, 0.625, 1e-9);
  EXPECT_NEAR(times.speedup_interval.high, 1.25, 1e-9);
  EXPECT_FALSE(times.shown_faster());
  EXPECT_FALSE(times.shown_slower());
  EXPECT_EQ(speedup_text(times),
            "no measurable speedup (95% CI 1.60× slower to 1.25× faster), noisy");
}

TEST(TimesInTurn, GoOnAsLongAsTheyAreWanted) {
  FakeClock clock;
  const std::function<void()> works[] = {clock.work_of(3), clock.work_of(2)};
  const auto ms = rounds_while(
      works, [](std::int64_t done) { return done < 4; }, clock.now());
  ASSERT_EQ(ms.size(), 2u);
  EXPECT_EQ(ms[0].size(), 4u);
  EXPECT_NEAR(ms[1].back(), 2, 1e-9);
  EXPECT_EQ(runs_per_round(5), 1);
  EXPECT_EQ(runs_per_round(0.013), 77);
}

TEST(TimesInTurn, OfOnePieceOfWorkAreInOrder) {
  int runs = 0;
  const std::vector<double> times = runs_ms([&] { ++runs; }, 7);
  EXPECT_EQ(runs, 7);
  EXPECT_EQ(times.size(), 7u);
  EXPECT_TRUE(std::ranges::is_sorted(times));
  EXPECT_GE(times.front(), 0);
  EXPECT_GE(run_ms([&] { ++runs; }), 0);
  EXPECT_EQ(runs, 8);
}

TEST(TimesInTurn, SayWhatIsSlower) {
  FakeClock clock;
  const TimesInTurn times =
      time_in_turn(clock.work_of(2), clock.work_of(4), kRounds, {}, clock.now());
  EXPECT_TRUE(times.shown_slower());
  EXPECT_EQ(speedup_text(times), "2.00× slower (95% CI 2.00 to 2.00)");
}

// A plugin's kernel may be hundreds of times slower than the built-in one.
TEST(TimesInTurn, InvertSmallRatios) {
  const TimesInTurn times{
      .before = {}, .after = {}, .speedup = 0.0036, .speedup_interval = {0.0031, 0.00412}};
  EXPECT_EQ(speedup_text(times), "278× slower (95% CI 243 to 323)");
}

TEST(TimesInTurn, CallOnlyAWholeIntervalFasterInHeadlines) {
  EXPECT_EQ(speedup_headline({1.06, Interval{0.997, 1.16}}), "no measurable speedup");
  EXPECT_EQ(speedup_headline({1.06, Interval{0.997, 1.16}}, "fp32"),
            "no measurable speedup over fp32");
  EXPECT_EQ(speedup_headline({1.06, Interval{1.01, 1.16}}, "fp32"), "1.06× faster than fp32");
  EXPECT_EQ(speedup_headline({0.94, Interval{0.84, 0.98}}, "fp32"), "1.06× slower than fp32");
  EXPECT_EQ(speedup_headline({1.06}).find("faster"), std::string::npos);
  // If a value is noisy, only its interval is printed.
  EXPECT_EQ(speedup_headline({7.61, Interval{3.39, 12.8}}), "3.39 to 12.8× faster");
  EXPECT_EQ(speedup_headline({0.4, Interval{0.25, 0.5}}, "fp32"), "2.00 to 4.00× slower than fp32");
}

// Paired rounds decide, and texts say so next to medians. Medians with the opposite sign are labelled as medians.
TEST(TimesInTurn, NamePairedRoundsBesideMedians) {
  TimesInTurn times{.before = {0.1, 0.153},
                    .after = {0.1, 0.145},
                    .speedup = 0.937,
                    .speedup_interval = {0.843, 0.983}};
  EXPECT_EQ(latency_change_text(times),
            "medians 0.153 → 0.145 ms, but 1.07× slower in paired rounds (95% CI 1.02 to 1.19)");
  times.after.median_ms = 0.163;
  EXPECT_EQ(latency_change_text(times),
            "0.153 → 0.163 ms, 1.07× slower in paired rounds (95% CI 1.02 to 1.19)");
}

// The speed of work depends on its set-up, for example on where its memory is. The interval goes from the second to the
// twelfth of thirteen ratios.
TEST(TimesInTurn, ClaimNoMoreThanTheSpreadOfSetUps) {
  FakeClock clock;
  int set_ups = 0, runs = 0;
  const ModelSetUp before = [&] {
    return std::vector<std::function<void()>>{clock.work_of(5), clock.work_of(8)};
  };
  const ModelSetUp after = [&] {
    const double ms = 4 + 0.1 * set_ups++;
    const auto run = [&clock, &runs, ms] {
      ++runs;
      clock.seconds += ms / 1e3;
    };
    return std::vector<std::function<void()>>{run, run};
  };
  const ModelSetUp both[] = {before, after};
  const auto ms = rounds_with_fresh_setup(both, 13, {}, clock.now());
  EXPECT_EQ(set_ups, 13);
  EXPECT_EQ(runs, 13 * 2 * (1 + kTurnsPerRound));
  ASSERT_EQ(ms.size(), 2U);
  EXPECT_NEAR(ms[1][0].front(), 8, 1e-9);
  const TimesInTurn times = compare_set_ups(ms[0][0], ms[0][1]);
  EXPECT_NEAR(times.speedup, 5 / 4.6, 1e-9);
  EXPECT_NEAR(times.speedup_interval.low, 5 / 5.1, 1e-9);
  EXPECT_NEAR(times.speedup_interval.high, 5 / 4.1, 1e-9);
  EXPECT_FALSE(times.shown_faster());
  const std::vector<double> few(kFewestForRepeatInterval - 1, 1.0);
  EXPECT_FALSE(repeated_speedup(few, few).interval);
}

TEST(TimesInTurn, CountsTheFirstRunOfLongWork) {
  FakeClock clock;
  int runs = 0;
  const auto set_up_of = [&](double ms) -> ModelSetUp {
    return [&clock, &runs, ms] {
      const auto run = [&clock, &runs, ms] {
        ++runs;
        clock.seconds += ms / 1e3;
      };
      return std::vector<std::function<void()>>{run};
    };
  };
  const ModelSetUp both[] = {set_up_of(300), set_up_of(90)};
  const auto ms = rounds_with_fresh_setup(both, 9, {}, clock.now());
  EXPECT_EQ(runs, 9 * 2);
  EXPECT_NEAR(ms[0][0].back(), 300, 1e-9);
  EXPECT_NEAR(ms[0][1].back(), 90, 1e-9);
}

TEST(TimesInTurn, RunAsManyRoundsAsTimeAllows) {
  EXPECT_EQ(rounds_in_time(0), kMostTimedRounds);
  EXPECT_EQ(rounds_in_time(kRoundsSeconds / 11), 11);
  EXPECT_EQ(rounds_in_time(kRoundsSeconds), static_cast<std::int64_t>(kFewestForRepeatInterval));
  FakeClock clock;
  const ModelSetUp one = [&] { return std::vector<std::function<void()>>{clock.work_of(5)}; };
  std::int64_t rounds = 0;
  const auto ms = rounds_with_fresh_setup(
      {&one, 1}, 0, [&] { ++rounds; }, clock.now());
  EXPECT_EQ(rounds, kMostTimedRounds);
  EXPECT_EQ(std::ssize(ms[0][0]), rounds);
}

TEST(TimesInTurn, CallEveryWideIntervalNoisy) {
  EXPECT_FALSE((Speedup{1.2, Interval{1, 1.4}}.noisy()));
  EXPECT_TRUE((Speedup{1.2, Interval{1, 1.6}}.noisy()));
  EXPECT_FALSE(Speedup{1.2}.noisy());
  // The interval goes from the second to the twelfth ratio.
  const std::vector<double> before = {1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2}, after(13, 1.0);
  EXPECT_TRUE(compare_set_ups(before, after).ratio().noisy());
}

// On a busy machine few rounds show nothing, although most of them are slower. Many rounds show the difference.
TEST(TimesInTurn, ShowMoreInMoreRounds) {
  FakeClock clock;
  int run = 0;
  const auto disturbed = [&] { clock.seconds += ++run % 3 == 0 ? 4e-3 : 6e-3; };
  const auto times_of = [&](std::int64_t rounds) {
    run = 0;
    return time_in_turn(clock.work_of(5), disturbed, rounds, {}, clock.now());
  };
  EXPECT_FALSE(times_of(12).shown_slower());
  EXPECT_FALSE(times_of(12).shown_faster());
  EXPECT_TRUE(times_of(60).shown_slower());
}

}  // namespace
}  // namespace hone
