#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/fields.h"
#include "hone/base/json.h"
#include "hone/metrics/median.h"
#include "hone/report/table.h"

/// Compares the speed of several pieces of work on this machine. They take turns, so that all see the same load.
///
///     const TimesInTurn times = time_in_turn([&] { fp32.run(); }, [&] { native.run(); }, 12);
///     times.speedup, times.speedup_interval   // 1.84, [1.79, 1.90]
namespace hone {

/// Milliseconds of one run over several rounds.
struct RoundTimes {
  double min_ms = 0, median_ms = 0;
};
const Fields& fields_of(const RoundTimes*);

/// Returns the seconds of a monotonic clock with an arbitrary origin.
double steady_seconds();
/// Returns the CPU time of this process, summed over all CPUs.
double cpu_seconds();

/// Returns the milliseconds of one run.
double run_ms(const std::function<void()>& work);
/// Returns the milliseconds of each of `runs` consecutive runs, sorted. Throws `Interrupted`.
std::vector<double> runs_ms(const std::function<void()>& work, std::int64_t runs);

/// How many times as fast one piece of work is as another: the median ratio of paired rounds. It can contradict the
/// ratio of the medians, because paired rounds see the same load.
struct Speedup {
  double value = 1;
  std::optional<Interval> interval = {};  ///< at least 95%; empty with too few rounds

  bool shown_faster() const { return interval && interval->low > 1; }
  bool shown_slower() const { return interval && interval->high < 1; }
  /// Returns whether the speedup is unreliable: one end of its interval is more than 1.5 times the other.
  bool noisy() const { return interval && interval->high > 1.5 * interval->low; }
  /// Returns whether these medians contradict the speedup that is shown.
  bool contradicts(double before_ms, double after_ms) const {
    return (shown_faster() && after_ms >= before_ms) || (shown_slower() && after_ms <= before_ms);
  }
};
const Fields& fields_of(const Speedup*);

struct TimesInTurn {
  RoundTimes before, after;
  double speedup = 1;  ///< median over the rounds of before / after; above 1: faster
  Interval speedup_interval = {1, 1};  ///< at least 95%

  Speedup ratio() const { return {speedup, speedup_interval}; }
  bool shown_faster() const { return ratio().shown_faster(); }
  bool shown_slower() const { return ratio().shown_slower(); }
};

const Fields& fields_of(const TimesInTurn*);

/// Returns the milliseconds per run of each piece of work, in each of `rounds` rounds. Every round begins with the next
/// piece. Before the rounds, each piece runs twice, uncounted. Work of less than a millisecond is run many times per
/// round. Calls `on_round` after each round. `now_seconds` is a monotonic clock with any origin, by default the steady
/// one. Throws `Interrupted`.
std::vector<std::vector<double>> rounds_in_turn(std::span<const std::function<void()>> works,
                                                std::int64_t rounds,
                                                const std::function<void()>& on_round = {},
                                                const std::function<double()>& now_seconds = {});

/// Runs rounds while `should_continue` returns true. It is called after each round with the number of rounds done, and
/// handles interruptions.
std::vector<std::vector<double>> rounds_while(
    std::span<const std::function<void()>> works,
    const std::function<bool(std::int64_t done)>& should_continue,
    const std::function<double()>& now_seconds = {});
/// Returns how many runs of this duration make a round.
std::int64_t runs_per_round(double ms);

/// Prepares a model, packs its weights, and returns its pieces of work. All models have as many, in the same order.
using ModelSetUp = std::function<std::vector<std::function<void()>>()>;
/// Number of runs after which an executable has packed its weights, at any batch size.
inline constexpr int kPackingRuns = 2;

/// Returns the milliseconds per run of the pieces of work of several models, indexed by work, model and round. All
/// models are set up anew in each round. Buffers then get other addresses, as in other processes, so rounds vary more
/// than runs of one set-up.
///
/// The first run of each piece of work is not counted, and a round's time is the median of `kTurnsPerRound` turns. If a
/// run of any model takes more than 20 ms, its first run counts and is the only one. `rounds`: 0: as many as
/// `rounds_in_time` returns after the first. Throws `Interrupted` between two runs or set-ups.
std::vector<std::vector<std::vector<double>>> rounds_with_fresh_setup(
    std::span<const ModelSetUp> set_ups, std::int64_t rounds,
    const std::function<void()>& on_round = {}, const std::function<double()>& now_seconds = {});
/// With two models, each begins one of these turns.
inline constexpr std::int64_t kTurnsPerRound = 2;

/// Returns the number of rounds of whole models, given the duration of one: as many as fit into `kRoundsSeconds`,
/// between `kFewestForRepeatInterval` and `kMostTimedRounds`. The minimum makes large models take longer: BERT-base
/// half a minute on two cores with AVX2, with 32 texts of 30 tokens.
std::int64_t rounds_in_time(double round_seconds);
inline constexpr double kRoundsSeconds = 20;
/// With this many, the second and the twelfth ratio in order are the interval of a repeat.
inline constexpr std::int64_t kMostTimedRounds = 13;

/// Compares rounds of two pieces of work in one set-up, with `median_interval`. Expects as many of each, in the order
/// of time, at least `kFewestForMedianInterval`.
TimesInTurn compare_rounds(std::span<const double> before_ms, std::span<const double> after_ms);
/// Compares rounds with new set-ups, with `repeat_interval`; at least `kFewestForRepeatInterval`.
TimesInTurn compare_set_ups(std::span<const double> before_ms, std::span<const double> after_ms);

Speedup speedup_of(std::span<const double> before_ms, std::span<const double> after_ms);
/// Returns the speedup of rounds with new set-ups, with `repeat_interval`.
Speedup repeated_speedup(std::span<const double> before_ms, std::span<const double> after_ms);
/// Returns "1.84 (1.79 to 1.90)", "1.84" or "–".
Cell speedup_cell(const std::optional<Speedup>& speedup);

/// Times both in `rounds` rounds, like `rounds_in_turn`.
TimesInTurn time_in_turn(const std::function<void()>& before, const std::function<void()>& after,
                         std::int64_t rounds, const std::function<void()>& on_round = {},
                         const std::function<double()>& now_seconds = {});

/// Returns "1.84× faster (95% CI 1.79 to 1.90)", "1.07× slower (95% CI 1.02 to 1.19)" or "no measurable speedup (95% CI
/// 1.04× slower to 1.12× faster)". Claims a change only if the whole interval does; appends ", noisy" to unreliable
/// speedups.
std::string speedup_text(const Speedup& speedup);
inline std::string speedup_text(const TimesInTurn& times) { return speedup_text(times.ratio()); }

/// Returns the same for use with the two medians, whose ratio can differ: "1.84× faster in paired rounds (95% CI 1.79
/// to 1.90)".
std::string paired_speedup_text(const Speedup& speedup);

/// Returns the same for a headline, without the interval: "1.84× faster", "1.07× slower" or "no measurable speedup",
/// each against `baseline` if it has a name. A noisy speedup is shown as its interval: "3.39 to 12.8× faster".
std::string speedup_headline(const Speedup& speedup, std::string_view baseline = {});

/// Returns the medians and the speedup: "1.52 → 0.22 ms, 6.6× faster in paired rounds (95% CI 5.9 to 13)" or "medians
/// 0.145 → 0.153 ms, but 1.04× faster in paired rounds (95% CI …)".
std::string latency_change_text(const TimesInTurn& times);

}  // namespace hone
