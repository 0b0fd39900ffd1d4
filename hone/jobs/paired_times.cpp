#include "hone/jobs/paired_times.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <vector>

#include "hone/base/interrupt.h"
#include "hone/base/text.h"

namespace hone {
namespace {

constexpr double kShortMs = 1, kLongMs = 20;
constexpr int kMaxRuns = 10000;

/// A piece of work, and how many of its runs make a round.
struct Work {
  const std::function<void()>& run;
  const std::function<double()>& now_seconds;
  int runs = 1;

  double time_once() const {
    const double start = now_seconds();
    for (int i = 0; i < runs; ++i) run();
    return 1e3 * (now_seconds() - start) / runs;
  }
  void set_runs(double ms) { runs = static_cast<int>(runs_per_round(ms)); }
};

// Runs rounds while `should_continue` returns true.
std::vector<std::vector<double>> interleave(
    const std::vector<Work>& all, const std::function<bool(std::int64_t done)>& should_continue) {
  std::vector<std::vector<double>> ms(all.size());
  std::int64_t round = 0;
  do {
    for (std::size_t i = 0; i < all.size(); ++i) {
      const std::size_t turn = (static_cast<std::size_t>(round) + i) % all.size();
      ms[turn].push_back(all[turn].time_once());
    }
  } while (should_continue(++round));
  return ms;
}

std::vector<double> sorted_values(std::span<const double> values) {
  std::vector<double> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
  return sorted;
}

RoundTimes times_of(std::span<const double> rounds) {
  const std::vector<double> sorted = sorted_values(rounds);
  return {sorted.front(), median_of_sorted(sorted)};
}

}  // namespace

std::int64_t runs_per_round(double ms) {
  return static_cast<std::int64_t>(
      std::clamp(std::ceil(kShortMs / std::max(ms, 1e-6)), 1.0, static_cast<double>(kMaxRuns)));
}

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double cpu_seconds() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

double run_ms(const std::function<void()>& work) {
  const double start = steady_seconds();
  work();
  return 1e3 * (steady_seconds() - start);
}

std::vector<double> runs_ms(const std::function<void()>& work, std::int64_t runs) {
  std::vector<double> times;
  for (std::int64_t i = 0; i < runs; ++i) {
    times.push_back(run_ms(work));
    stop_if_interrupted();
  }
  std::ranges::sort(times);
  return times;
}

std::vector<std::vector<double>> rounds_while(
    std::span<const std::function<void()>> works,
    const std::function<bool(std::int64_t done)>& should_continue,
    const std::function<double()>& now_seconds) {
  const std::function<double()> clock = now_seconds ? now_seconds : steady_seconds;
  std::vector<Work> all;
  for (const std::function<void()>& run : works) all.push_back({run, clock});
  for (Work& work : all) {
    work.run();
    work.set_runs(work.time_once());
  }
  return interleave(all, should_continue);
}

std::vector<std::vector<double>> rounds_in_turn(std::span<const std::function<void()>> works,
                                                std::int64_t rounds,
                                                const std::function<void()>& on_round,
                                                const std::function<double()>& now_seconds) {
  return rounds_while(
      works,
      [&](std::int64_t done) {
        if (on_round) on_round();
        stop_if_interrupted();
        return done < rounds;
      },
      now_seconds);
}

namespace {

// Returns the milliseconds of each piece of work in a round. The first run is a warm-up, but counts if any of them
// takes long.
std::vector<double> round_of(std::span<const std::function<void()>> works, std::size_t first_turn,
                             const std::function<double()>& now_seconds) {
  std::vector<Work> all;
  for (const std::function<void()>& run : works) all.push_back({run, now_seconds});
  std::vector<double> ms(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::size_t turn = (first_turn + i) % all.size();
    ms[turn] = all[turn].time_once();
  }
  if (std::ranges::max(ms) > kLongMs) return ms;
  for (std::size_t i = 0; i < all.size(); ++i) all[i].set_runs(ms[i]);
  const auto turns = interleave(all, [](std::int64_t done) { return done < kTurnsPerRound; });
  for (std::size_t i = 0; i < all.size(); ++i) ms[i] = median_of_sorted(sorted_values(turns[i]));
  return ms;
}

}  // namespace

std::int64_t rounds_in_time(double round_seconds) {
  return static_cast<std::int64_t>(std::clamp(kRoundsSeconds / std::max(round_seconds, 1e-6),
                                              static_cast<double>(kFewestForRepeatInterval),
                                              static_cast<double>(kMostTimedRounds)));
}

std::vector<std::vector<std::vector<double>>> rounds_with_fresh_setup(
    std::span<const ModelSetUp> set_ups, std::int64_t rounds, const std::function<void()>& on_round,
    const std::function<double()>& now_seconds) {
  const std::function<double()> clock = now_seconds ? now_seconds : steady_seconds;
  std::vector<std::vector<std::vector<double>>> ms;
  std::int64_t wanted = rounds;
  const double start = steady_seconds();
  for (std::int64_t round = 0; round == 0 || round < wanted; ++round) {
    const auto first_turn = static_cast<std::size_t>(round) % set_ups.size();
    std::vector<std::vector<std::function<void()>>> ready(set_ups.size());
    for (std::size_t i = 0; i < set_ups.size(); ++i) {
      stop_if_interrupted();
      const std::size_t turn = (first_turn + i) % set_ups.size();
      ready[turn] = set_ups[turn]();
    }
    ms.resize(ready.front().size(), std::vector<std::vector<double>>(set_ups.size()));
    for (std::size_t work = 0; work < ms.size(); ++work) {
      std::vector<std::function<void()>> works;
      for (const auto& of_model : ready)
        works.emplace_back([&run = of_model[work]] {
          stop_if_interrupted();
          run();
        });
      const std::vector<double> times = round_of(works, first_turn, clock);
      for (std::size_t i = 0; i < times.size(); ++i) ms[work][i].push_back(times[i]);
    }
    if (wanted == 0) wanted = rounds_in_time(steady_seconds() - start);
    if (on_round) on_round();
  }
  return ms;
}

const Fields& fields_of(const RoundTimes*) {
  using R = RoundTimes;
  static const Fields fields =
      describe<R>("round_times", "Times over several rounds.",
                  field<&R::min_ms>("min_ms", Unit::milliseconds, "Fastest run."),
                  field<&R::median_ms>("median_ms", Unit::milliseconds, "Median run."));
  return fields;
}

const Fields& fields_of(const Speedup*) {
  using S = Speedup;
  static const Fields fields = describe<S>(
      "speedup", "Speedup of one piece of work over another.",
      field<&S::value>("speedup", Unit::ratio,
                       "Median ratio of paired rounds; above 1 is faster. Null: nothing to compare "
                       "with.",
                       "Speedup"),
      field<&S::interval>(
          "speedup_interval",
          "Its interval of at least 95%: of whole models that of a repeat, else by the "
          "sign test; null: of too few rounds, or of the baseline itself."));
  return fields;
}

const Fields& fields_of(const TimesInTurn*) {
  using T = TimesInTurn;
  static const Fields fields = describe<T>(
      "paired_times", "Times before and after a change, measured in paired rounds.",
      field<&T::before>("before", "The baseline."), field<&T::after>("after", "The changed model."),
      field<&T::speedup>("speedup", Unit::ratio,
                         "Median over the rounds of the time before divided by the time after; "
                         "above 1 is faster."),
      field<&T::speedup_interval>(
          "speedup_interval",
          "Its interval of at least 95%: of whole models that of a repeat, else "
          "by the sign test."));
  return fields;
}

namespace {

std::vector<double> sorted_ratios(std::span<const double> before_ms,
                                  std::span<const double> after_ms) {
  std::vector<double> ratios;
  for (std::size_t round = 0; round < before_ms.size(); ++round)
    ratios.push_back(before_ms[round] / std::max(after_ms[round], 1e-9));
  std::ranges::sort(ratios);
  return ratios;
}

TimesInTurn times_with(const Speedup& speedup, std::span<const double> before_ms,
                       std::span<const double> after_ms) {
  return {.before = times_of(before_ms),
          .after = times_of(after_ms),
          .speedup = speedup.value,
          .speedup_interval = speedup.interval.value()};
}

}  // namespace

TimesInTurn compare_rounds(std::span<const double> before_ms, std::span<const double> after_ms) {
  return times_with(speedup_of(before_ms, after_ms), before_ms, after_ms);
}

TimesInTurn compare_set_ups(std::span<const double> before_ms, std::span<const double> after_ms) {
  return times_with(repeated_speedup(before_ms, after_ms), before_ms, after_ms);
}

Speedup speedup_of(std::span<const double> before_ms, std::span<const double> after_ms) {
  const std::vector<double> ratios = sorted_ratios(before_ms, after_ms);
  Speedup speedup{.value = median_of_sorted(ratios)};
  if (ratios.size() >= kFewestForMedianInterval) speedup.interval = median_interval(ratios);
  return speedup;
}

Speedup repeated_speedup(std::span<const double> before_ms, std::span<const double> after_ms) {
  const std::vector<double> ratios = sorted_ratios(before_ms, after_ms);
  Speedup speedup{.value = median_of_sorted(ratios)};
  if (ratios.size() >= kFewestForRepeatInterval) speedup.interval = repeat_interval(ratios);
  return speedup;
}

Cell speedup_cell(const std::optional<Speedup>& speedup) {
  if (!speedup) return absent;
  if (!speedup->interval) return significant(speedup->value);
  return number_within(speedup->value, speedup->interval->low, speedup->interval->high);
}

TimesInTurn time_in_turn(const std::function<void()>& before, const std::function<void()>& after,
                         std::int64_t rounds, const std::function<void()>& on_round,
                         const std::function<double()>& now_seconds) {
  const std::function<void()> works[] = {before, after};
  const auto ms = rounds_in_turn(works, rounds, on_round, now_seconds);
  return compare_rounds(ms[0], ms[1]);
}

namespace {

std::string speedup_text(const Speedup& speedup, std::string_view rounds) {
  const std::string value = speed_text(speedup.value);
  if (!speedup.interval) return fmt::format("{}, too few rounds for a 95% CI", value);
  const std::string interval =
      fmt::format("(95% CI {}){}", speed_range_text(speedup.interval->low, speedup.interval->high),
                  speedup.noisy() ? ", noisy" : "");
  if (speedup.shown_faster() || speedup.shown_slower())
    return fmt::format("{}{} {}", value, rounds, interval);
  return fmt::format("no measurable speedup {}", interval);
}

}  // namespace

std::string speedup_text(const Speedup& speedup) { return speedup_text(speedup, ""); }
std::string paired_speedup_text(const Speedup& speedup) {
  return speedup_text(speedup, " in paired rounds");
}

std::string speedup_headline(const Speedup& speedup, std::string_view baseline) {
  const auto against = [&](std::string text, std::string_view word) {
    return baseline.empty() ? text : fmt::format("{} {} {}", text, word, baseline);
  };
  if (!speedup.interval) return against("too few rounds to measure a speedup", "over");
  if (speedup.noisy() && (speedup.shown_faster() || speedup.shown_slower()))
    return against(
        fmt::format("{}× {}", speed_range_text(speedup.interval->low, speedup.interval->high),
                    speedup.shown_faster() ? "faster" : "slower"),
        "than");
  if (speedup.shown_faster() || speedup.shown_slower())
    return against(speed_text(speedup.value), "than");
  return against("no measurable speedup", "over");
}

std::string latency_change_text(const TimesInTurn& times) {
  const double before = times.before.median_ms, after = times.after.median_ms;
  const std::string medians = fmt::format("{} → {} ms", three_digits(before), three_digits(after));
  if (times.ratio().contradicts(before, after))
    return fmt::format("medians {}, but {}", medians, paired_speedup_text(times.ratio()));
  return fmt::format("{}, {}", medians, paired_speedup_text(times.ratio()));
}

}  // namespace hone
