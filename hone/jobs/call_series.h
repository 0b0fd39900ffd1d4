#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hone/base/fields.h"
#include "hone/jobs/bench_work.h"
#include "hone/metrics/median.h"

/// Statistics of consecutive calls: how long a call takes, what preparation costs, and from which call on one executor
/// is ahead of another.
namespace hone {

/// Times of one process, call by call.
struct CallSeries {
  std::vector<StageTime> stages = {};  ///< of the preparation
  std::vector<double> calls_ms = {};   ///< in order, at least one

  double preparation_ms() const;
  /// Returns the time until the first output.
  double start_ms() const { return preparation_ms() + calls_ms.front(); }
  /// Returns the mean of `n` calls after the first `ignored`, all of which must exist.
  double mean_ms(std::size_t n, std::size_t ignored) const;
  /// Returns the mean of the first `n` calls, with preparation included in the sum.
  double mean_with_preparation_ms(std::size_t n) const;
  /// Returns the time from the start of the preparation to the end of each call.
  std::vector<double> cumulative_ms() const;
};

const Fields& fields_of(const CallSeries*);

/// Statistics of the calls after the first `ignored`.
struct CallSummary {
  std::size_t calls = 0;
  double min_ms = 0, median_ms = 0;
  std::optional<Interval> median_interval = {};  ///< empty below `kFewestForMedianInterval`
  std::optional<double> p95_ms = {};             ///< empty below 20 calls
  /// Number of calls whose interval would be within 1% of the median on either side, given the same spread; its width
  /// falls with the square root of their number. Empty if these suffice, or without an interval.
  std::optional<std::int64_t> calls_for_one_percent = {};
};
CallSummary summary_of(const CallSeries& series, std::size_t ignored);

/// Returns the lowest and highest median of five stretches of calls if they differ by more than `kMaxPhaseRatio`. The
/// calls then come in phases, as on a shared CPU, and an interval that assumes independent calls is too narrow. Empty
/// for fewer than 20 calls.
std::optional<Interval> phases_of(const CallSeries& series, std::size_t ignored);
inline constexpr double kMaxPhaseRatio = 1.1;

/// Returns how many rounds in turn would show with 80% power which work is faster, given the spread of these ratios:
///
///     n = π/2 ((1.96 + 0.84) σ / ln(median ratio))²,   σ = interquartile range of ln(ratio) / 1.349
///
/// π/2 accounts for a median in place of a mean of normal values. Empty above `kMostRounds`, where both are practically
/// equal. Expects as many of each, at least `kFewestForMedianInterval`.
std::optional<std::int64_t> rounds_to_detect(std::span<const double> before_ms,
                                             std::span<const double> after_ms);
inline constexpr std::int64_t kMostRounds = 10'000;

/// The call, counted from 1, from which on the total time of one executor does not exceed that of another.
struct BreakEven {
  std::optional<std::int64_t> call = {};  ///< empty: never
  std::int64_t low = 1;                   ///< earliest
  std::optional<std::int64_t> high = {};  ///< latest; empty: perhaps never
};

/// A value with its interval.
struct ValueWithInterval {
  double value = 0, low = 0, high = 0;
};

/// Computes the break-even call. `extra_ms`: how much later the first call ends than with the other executor;
/// `second_extra_ms`: how much longer the second call takes, which packs weights, beyond the usual gain; `gain_ms`: how
/// much less time a call takes.
///
///     call = 1 + (extra + second) / gain, rounded up
///     call = 1 if neither the first output nor the end of the second call is later
BreakEven break_even(const ValueWithInterval& extra_ms, double second_extra_ms,
                     const ValueWithInterval& gain_ms);
/// Returns "from the first call on", "from call 17 on (12 to 31)" or "never in these measurements".
std::string break_even_text(const BreakEven& even);

}  // namespace hone
