#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hone/base/fields.h"
#include "hone/jobs/bench_work.h"
#include "hone/metrics/median.h"

/// Times of calls one after the other, and what they say: how long a call takes, what beginning costs, and from which call on
/// one way is ahead of another.
namespace hone {

/// What work took in one process, call by call.
struct CallSeries {
  std::vector<StageTime> stages = {};  ///< of making it ready
  std::vector<double> calls_ms = {};   ///< the first one first, of which there is one at least

  double ready_ms() const;
  /// Until the first answer is there.
  double start_ms() const { return ready_ms() + calls_ms.front(); }
  /// Mean of `n` calls behind the first `ignored`. There are as many.
  double mean_ms(std::size_t n, std::size_t ignored) const;
  /// Mean of the first `n` with making it ready among them, as a loop counts that begins with nothing.
  double mean_with_ready_ms(std::size_t n) const;
  /// Until the end of each call, from the beginning of making it ready.
  std::vector<double> cumulative_ms() const;
};

const Fields& fields_of(const CallSeries*);

/// Calls behind the first `ignored`.
struct CallSummary {
  std::size_t calls = 0;
  double min_ms = 0, median_ms = 0;
  std::optional<Interval> median_interval = {};  ///< none of fewer than `kFewestForMedianInterval`
  std::optional<double> p95_ms = {};             ///< none of fewer than 20, which hold no such call
  /// Calls after which the interval is within 1% of the median to either side, if they spread as these do: its width falls
  /// as the root of their number. Nothing where it is already, or there is no interval.
  std::optional<std::int64_t> calls_for_one_percent = {};
};
CallSummary summary_of(const CallSeries& series, std::size_t ignored);

/// The least and the greatest median of five stretches of calls, where these lie further apart than `kAlike`: then calls came in phases, of
/// a processor that others share, and no interval that takes them for independent is wide enough. Nothing of fewer than 20.
std::optional<Interval> phases_of(const CallSeries& series, std::size_t ignored);
inline constexpr double kAlike = 1.1;

/// Rounds of two pieces of work in turn that show which is faster four times out of five, if their ratios spread as these do:
///
///     n = π/2 ((1.96 + 0.84) σ / ln(median ratio))²,   σ = quartiles of ln(ratio), apart / 1.349
///
/// π/2 is what a median needs more than a mean of normal values. Nothing above `kMostRounds`: they are as good as equal. As
/// many of each, `kFewestForMedianInterval` at least.
std::optional<std::int64_t> rounds_to_tell(std::span<const double> before_ms,
                                           std::span<const double> after_ms);
inline constexpr std::int64_t kMostRounds = 10'000;

/// From which call on, counted from 1, the sum of all that work has taken is no more than that of other work.
struct BreakEven {
  std::optional<std::int64_t> call = {};  ///< nothing: never
  std::int64_t low = 1;                   ///< at the earliest
  std::optional<std::int64_t> high = {};  ///< at the latest; nothing: perhaps never
};

/// A value with the ends that it was measured to lie between.
struct Within {
  double value = 0, low = 0, high = 0;
};

/// `extra_ms`: what it takes longer than with the other until the end of the first call; `second_extra_ms`: what the second call
/// takes longer, above what a call takes less, since weights are packed in it; `gain_ms`: what a call takes less.
///
///     call = 1 + (extra + second) / gain, rounded up;   1 where neither the first output nor the end of the second call is later
BreakEven break_even(const Within& extra_ms, double second_extra_ms, const Within& gain_ms);
/// "from the first call on", "from call 17 on (12 to 31)", "never", for a sentence.
std::string break_even_text(const BreakEven& even);

}  // namespace hone
