#include "hone/metrics/proportion.h"

#include <cmath>

#include "hone/base/error.h"

namespace hone {

double normal_tail(double z) { return std::erfc(z / std::sqrt(2.0)) / 2; }

double normal_above(double tail) {
  HONE_ASSERT(0 < tail && tail <= 0.5, "a tail of {}", tail);
  double low = 0, high = 40;  // beyond it the tail is below the smallest double
  for (int i = 0; i < 80; ++i) {
    const double middle = (low + high) / 2;
    (normal_tail(middle) > tail ? low : high) = middle;
  }
  return (low + high) / 2;
}

Interval wilson_interval(std::int64_t successes, std::int64_t trials, double evidence) {
  HONE_ASSERT(0 <= successes && successes <= trials, "{} of {}", successes, trials);
  if (trials == 0) return {0, 1};
  const double n = static_cast<double>(trials) * evidence;
  const double p = static_cast<double>(successes) / static_cast<double>(trials);
  const double z2 = kNormal975 * kNormal975;
  const double centre = p + z2 / (2 * n);
  const double half_width = kNormal975 * std::sqrt(p * (1 - p) / n + z2 / (4 * n * n));
  const double scale = 1 + z2 / n;
  // The ends at 0 and at all successes are exact; the formula would round them.
  return {successes == 0 ? 0 : (centre - half_width) / scale,
          successes == trials ? 1 : (centre + half_width) / scale};
}

Interval difference_interval(const Proportion& a, const Proportion& b) {
  HONE_ASSERT(a.trials > 0 && b.trials > 0, "{} and {} trials", a.trials, b.trials);
  const Interval of_a = wilson_interval(a.successes, a.trials, a.evidence),
                 of_b = wilson_interval(b.successes, b.trials, b.evidence);
  const double difference = a.share() - b.share();
  return {difference - std::hypot(a.share() - of_a.low, of_b.high - b.share()),
          difference + std::hypot(of_a.high - a.share(), b.share() - of_b.low)};
}

}  // namespace hone
