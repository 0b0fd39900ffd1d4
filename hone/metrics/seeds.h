#pragma once

#include <span>

#include "hone/metrics/proportion.h"

/// What a few repetitions of a job with different seeds say together.
namespace hone {

/// Mean and spread of one figure over the seeds.
struct SeedSpread {
  std::int64_t count = 0;
  double mean = 0;
  double deviation = 0;  ///< sample standard deviation; NaN for fewer than two
  double least = 0, greatest = 0;
  Interval interval;  ///< 95 %, of the mean, by Student's t; [-inf, inf] for fewer than two
};

/// `values` must not be empty.
SeedSpread seed_spread(std::span<const double> values);

/// The two-sided p-value of the paired t-test (Student 1908): whether the mean of `differences`, one per seed, is zero.
/// NaN for fewer than two; 1 when all are zero, 0 when all are the same and not zero.
double paired_t_test(std::span<const double> differences);

/// P(|T| > |t|) for Student's distribution with `degrees` degrees of freedom, at least 1, by the finite series for
/// whole degrees (Abramowitz & Stegun 26.7.3 and 26.7.4).
double student_two_sided(double t, std::int64_t degrees);

/// The t whose two-sided probability is 5 %.
double student_975(std::int64_t degrees);

}  // namespace hone
