#pragma once

#include <optional>
#include <span>
#include <vector>

#include "hone/base/fields.h"
#include "hone/metrics/metric_name.h"
#include "hone/metrics/proportion.h"

/// What a few repetitions of a job with different seeds say together.
namespace hone {

/// Fewer seeds than these tell nothing of others: their values are shown, and no spread is made of them.
inline constexpr std::int64_t kFewestSeeds = 5;

/// One figure over the seeds.
struct SeedSpread {
  std::int64_t count = 0;
  double mean = 0;
  double least = 0, greatest = 0;
  std::vector<double> values = {};  ///< in the order in which they were given
  /// Sample standard deviation; nothing under `kFewestSeeds`.
  std::optional<double> deviation;
  /// 95%, of the mean, by Student's t; nothing under `kFewestSeeds`, and where all are the same: a width of zero would
  /// claim that another seed cannot differ.
  std::optional<Interval> interval;
};
const Fields& fields_of(const SeedSpread*);

/// Of any figure. `values` must not be empty.
SeedSpread seed_spread(std::span<const double> values);

/// Of a share, as accuracy is one. The interval is Student's on the logit scale, about the logit of the mean m with the standard error
/// s / (√k m (1 - m)) (delta method), transformed back: it stays within (0, 1) and holds the mean. Like every interval over
/// seeds it speaks of other seeds on the same examples.
SeedSpread share_spread(std::span<const double> shares);
/// `share_spread`; of a figure that may be negative `seed_spread`.
SeedSpread metric_spread(const MetricName& figure, std::span<const double> values);

/// Of after - before, seed by seed. The interval is cut where the mean of the figure would leave what it can be.
SeedSpread change_spread(const MetricName& figure, std::span<const double> before,
                         std::span<const double> after);

/// The two-sided p-value of the paired t-test (Student 1908): whether the mean of `differences`, one per seed, is zero.
/// Nothing where `seed_spread` has no interval.
std::optional<double> paired_t_test(std::span<const double> differences);

/// P(|T| > |t|) for Student's distribution with `degrees` degrees of freedom, at least 1, by the finite series for
/// whole degrees (Abramowitz & Stegun 26.7.3 and 26.7.4).
double student_two_sided(double t, std::int64_t degrees);

/// The t whose two-sided probability is 5%.
double student_975(std::int64_t degrees);

}  // namespace hone
