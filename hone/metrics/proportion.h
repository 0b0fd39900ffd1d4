#pragma once

#include <cstdint>

/// The uncertainty of counted shares.
namespace hone {

/// The interval [low, high].
struct Interval {
  double low = 0;
  double high = 0;
};

/// The 97.5% point of the normal distribution, which two-sided 95% intervals and tests use.
inline constexpr double kNormal975 = 1.959963984540054;
/// The 80% point, for a power of 80%.
inline constexpr double kNormal80 = 0.8416212335729143;

/// Returns P(Z > z) of the normal distribution.
double normal_tail(double z);
/// Returns the z with P(Z > z) = `tail`, for 0 < `tail` ≤ ½.
double normal_above(double tail);

/// Returns Wilson's 95% interval for the probability behind `successes` of `trials` (Wilson 1927):
///
///     (p + z²/2n ± z sqrt(p(1-p)/n + z²/4n²)) / (1 + z²/n),   p = successes / trials, z = 1.96
///
/// Within [0, 1] and of positive width even at 0 or all successes; [0, 1] for no trials. If trials repeat, n is their
/// number times their `evidence` (hone/metrics/evidence.h).
Interval wilson_interval(std::int64_t successes, std::int64_t trials, double evidence = 1);

/// A counted share.
struct Proportion {
  std::int64_t successes = 0;
  std::int64_t trials = 0;
  double evidence = 1;  ///< see `wilson_interval`
  double share() const { return static_cast<double>(successes) / static_cast<double>(trials); }
};

/// Returns the 95% interval of the difference a - b of shares counted on different examples: Newcombe's hybrid of both
/// Wilson intervals (Newcombe 1998, Statistics in Medicine 17:873, method 10):
///
///     d - sqrt((a - a.low)² + (b.high - b)²)   to   d + sqrt((a.high - a)² + (b - b.low)²),   d = a - b
///
/// Within [-1, 1]. Both must have trials.
Interval difference_interval(const Proportion& a, const Proportion& b);

}  // namespace hone
