#include "hone/metrics/proportion.h"

#include <cmath>

#include "hone/base/error.h"

namespace hone {

Interval wilson_interval(std::int64_t successes, std::int64_t trials) {
  HONE_ASSERT(0 <= successes && successes <= trials, "{} of {}", successes, trials);
  if (trials == 0) return {0, 1};
  const double n = static_cast<double>(trials);
  const double p = static_cast<double>(successes) / n;
  const double z2 = kNormal975 * kNormal975;
  const double centre = p + z2 / (2 * n);
  const double half_width = kNormal975 * std::sqrt(p * (1 - p) / n + z2 / (4 * n * n));
  const double scale = 1 + z2 / n;
  // The ends at nothing and at everything are exact; the formula rounds them.
  return {successes == 0 ? 0 : (centre - half_width) / scale,
          successes == trials ? 1 : (centre + half_width) / scale};
}

}  // namespace hone
