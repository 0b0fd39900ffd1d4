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

/// Which of several pieces of work is faster on this machine, however loud it is: they take turns, so that all see the same of
/// it.
///
///     const TimesInTurn times = time_in_turn([&] { fp32.run(); }, [&] { native.run(); }, 12);
///     times.speedup, times.speedup_interval   // 1.84, [1.79, 1.90]
namespace hone {

/// Milliseconds of one run over several rounds.
struct RoundTimes {
  double min_ms = 0, median_ms = 0;
};
const Fields& fields_of(const RoundTimes*);

/// Of a clock that never goes backwards; the origin is any.
double steady_seconds();
/// What all processors together have spent on this process.
double cpu_seconds();

/// Milliseconds of one run.
double run_ms(const std::function<void()>& work);
/// Of each of `runs` runs one after the other, rising. Throws `Interrupted`.
std::vector<double> runs_ms(const std::function<void()>& work, std::int64_t runs);

/// How many times as fast one piece of work is as another: the median ratio of paired rounds. It can point another way than the ratio of
/// the medians: paired rounds saw the same load.
struct Speedup {
  double value = 1;
  std::optional<Interval> interval = {};  ///< at least 95%; none of too few rounds

  bool shown_faster() const { return interval && interval->low > 1; }
  bool shown_slower() const { return interval && interval->high < 1; }
  /// Rounds vary so much that the speedup says little: one end of the interval is more than 1.5 times the other.
  bool noisy() const { return interval && interval->high > 1.5 * interval->low; }
  /// Whether these medians point the other way than what is shown.
  bool contradicts(double before_ms, double after_ms) const {
    return (shown_faster() && after_ms >= before_ms) || (shown_slower() && after_ms <= before_ms);
  }
};
const Fields& fields_of(const Speedup*);

struct TimesInTurn {
  RoundTimes before, after;
  double speedup = 1;  ///< median over the rounds of the time before by that after; above 1: faster
  Interval speedup_interval = {1, 1};  ///< at least 95%

  Speedup ratio() const { return {speedup, speedup_interval}; }
  bool shown_faster() const { return ratio().shown_faster(); }
  bool shown_slower() const { return ratio().shown_slower(); }
};

const Fields& fields_of(const TimesInTurn*);

/// Milliseconds of one run of each piece of work, in each of `rounds` rounds, of which every one begins with the next. Before
/// them each runs twice, uncounted; what takes less than a millisecond is run many times a round. `on_round` is told of each
/// round that is done. `now_seconds` is the clock: any origin, never backwards; by default the steady one. Throws `Interrupted`.
std::vector<std::vector<double>> rounds_in_turn(std::span<const std::function<void()>> works,
                                                std::int64_t rounds,
                                                const std::function<void()>& on_round = {},
                                                const std::function<double()>& now_seconds = {});

/// As many rounds as `goes_on` wants, which is asked after each with how many are done; it sees to interruptions.
std::vector<std::vector<double>> rounds_while(std::span<const std::function<void()>> works,
                                              const std::function<bool(std::int64_t done)>& goes_on,
                                              const std::function<double()>& now_seconds = {});
/// Runs of a piece of work that takes so long that make a round.
std::int64_t runs_of_round(double ms);

/// Makes a model ready, with its weights packed, and returns its pieces of work. All models have as many, in the same order.
using ModelSetUp = std::function<std::vector<std::function<void()>>()>;
/// Runs after which an executable has packed its weights, at any batch size.
inline constexpr int kPackingRuns = 2;

/// Milliseconds of one run of the pieces of work of several models, all set up anew in each round: by work, then model, then round. Buffers
/// have other addresses in every round, as they have in every process, so rounds differ more than runs of one set-up do.
///
/// The first run of each piece of work is not counted, and the time of the round is the median of `kTurnsOfARound` rounds in turn. If a run of
/// any model takes more than 20 ms, its first run counts and is the only one. `rounds`: 0: as many as `rounds_in_time` says after the first.
/// Throws `Interrupted`, between two runs or set-ups.
std::vector<std::vector<std::vector<double>>> rounds_set_up_anew(
    std::span<const ModelSetUp> set_ups, std::int64_t rounds,
    const std::function<void()>& on_round = {}, const std::function<double()>& now_seconds = {});
/// Each model begins in as many of them.
inline constexpr std::int64_t kTurnsOfARound = 2;

/// Rounds of whole models when one takes so long: as many as fit into `kRoundsSeconds`, but `kFewestForRepeatInterval` at least and
/// `kMostTimedRounds` at most. So large models take longer than that: BERT-base half a minute on two cores with AVX2, at 32 texts of 30 tokens.
std::int64_t rounds_in_time(double round_seconds);
inline constexpr double kRoundsSeconds = 20;
/// The second and the twelfth ratio in order are the interval of a repeat.
inline constexpr std::int64_t kMostTimedRounds = 13;

/// What rounds of two pieces of work in one set-up tell of them, with `median_interval`: in the order of time, as many of each,
/// `kFewestForMedianInterval` at least.
TimesInTurn compare_rounds(std::span<const double> before_ms, std::span<const double> after_ms);
/// The same of rounds that were set up anew, with `repeat_interval`; `kFewestForRepeatInterval` at least.
TimesInTurn compare_set_ups(std::span<const double> before_ms, std::span<const double> after_ms);

Speedup speedup_of(std::span<const double> before_ms, std::span<const double> after_ms);
/// Of rounds that were set up anew, with `repeat_interval`.
Speedup repeated_speedup(std::span<const double> before_ms, std::span<const double> after_ms);
/// "1.84 (1.79 to 1.90)", "1.84", "–".
Cell speedup_cell(const std::optional<Speedup>& speedup);

/// Both in `rounds` rounds, as `rounds_in_turn`.
TimesInTurn time_in_turn(const std::function<void()>& before, const std::function<void()>& after,
                         std::int64_t rounds, const std::function<void()>& on_round = {},
                         const std::function<double()>& now_seconds = {});

/// "1.84× faster (95% CI 1.79 to 1.90)", "1.07× slower (95% CI 1.02 to 1.19)", "no measurable speedup (95% CI 1.04× slower to
/// 1.12× faster)": faster or slower only if the whole interval is; ", noisy" follows where that is so.
std::string speedup_text(const Speedup& speedup);
inline std::string speedup_text(const TimesInTurn& times) { return speedup_text(times.ratio()); }

/// The same beside the two medians, whose ratio differs from the median ratio of the rounds: "1.84× faster in paired rounds (95% CI 1.79
/// to 1.90)".
std::string paired_speedup_text(const Speedup& speedup);

/// The same for a headline, without the interval: "1.84× faster", "1.07× slower", "no measurable speedup", each against `baseline`
/// if it has a name. Of a noisy one the interval instead: "3.39 to 12.8× faster".
std::string speedup_headline(const Speedup& speedup, std::string_view baseline = {});

/// The medians and the speedup: "1.52 → 0.22 ms, 6.6× faster in paired rounds (95% CI 5.9 to 13)", "medians 0.145 → 0.153 ms, but
/// 1.04× faster in paired rounds (95% CI …)".
std::string latency_change_text(const TimesInTurn& times);

}  // namespace hone
