#pragma once

#include <optional>
#include <span>
#include <vector>

#include "hone/base/fields.h"
#include "hone/metrics/metric_name.h"
#include "hone/metrics/proportion.h"

/// Statistics over a few repetitions of a job with different seeds.
namespace hone {

/// Fewer seeds than this say nothing about others: their values are shown without a spread.
inline constexpr std::int64_t kFewestSeeds = 5;

/// One metric over the seeds.
struct SeedSpread {
  std::int64_t count = 0;
  double mean = 0;
  double least = 0, greatest = 0;
  std::vector<double> values = {};  ///< in the given order
  /// Sample standard deviation; none for fewer than `kFewestSeeds`.
  std::optional<double> deviation;
  /// 95%, of the mean, by Student's t; none for fewer than `kFewestSeeds`, and if all are the same: a width of zero
  /// would claim that another seed cannot differ.
  std::optional<Interval> interval;
};
const Fields& fields_of(const SeedSpread*);

/// Returns the spread of any metric. `values` must not be empty.
SeedSpread seed_spread(std::span<const double> values);

/// Returns the spread of a share, such as accuracy. The interval is Student's on the logit scale, about the logit of
/// the mean m with the standard error s / (√k m (1 - m)) (delta method), transformed back: it stays within (0, 1) and
/// contains the mean. Like every interval over seeds it is about other seeds on the same examples.
SeedSpread share_spread(std::span<const double> shares);
/// Returns `share_spread`, or `seed_spread` for a metric that may be negative.
SeedSpread metric_spread(const MetricName& metric, std::span<const double> values);

/// Returns the spread of after - before, seed by seed. The interval is clipped so that the mean of the metric stays in
/// its range.
SeedSpread change_spread(const MetricName& metric, std::span<const double> before,
                         std::span<const double> after);

/// Returns the two-sided p-value of the paired t-test (Student 1908) of whether the mean of `differences`, one per
/// seed, is zero. None if `seed_spread` has no interval.
std::optional<double> paired_t_test(std::span<const double> differences);

/// Returns P(|T| > |t|) for Student's distribution with `degrees` degrees of freedom, at least 1, by the finite series
/// for whole degrees (Abramowitz & Stegun 26.7.3 and 26.7.4).
double student_two_sided(double t, std::int64_t degrees);

/// Returns the t whose two-sided probability is 5%.
double student_975(std::int64_t degrees);

}  // namespace hone
