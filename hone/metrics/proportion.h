#pragma once

#include <cstdint>

/// How sure a counted share is.
namespace hone {

/// The interval [low, high].
struct Interval {
  double low = 0;
  double high = 0;
};

/// The 97.5 % point of the normal distribution: what a two-sided 95 % interval or test uses.
inline constexpr double kNormal975 = 1.959963984540054;

/// Wilson's 95 % interval for the probability behind `successes` of `trials` (Wilson 1927):
///
///     (p + z²/2n ± z sqrt(p(1-p)/n + z²/4n²)) / (1 + z²/n),   p = successes / trials, z = 1.96
///
/// Within [0, 1] and of positive width even at 0 or all successes; [0, 1] for no trials.
Interval wilson_interval(std::int64_t successes, std::int64_t trials);

}  // namespace hone
