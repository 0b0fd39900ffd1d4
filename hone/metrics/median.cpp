#include "hone/metrics/median.h"

#include <cmath>

#include "hone/base/error.h"

namespace hone {

double median_of_sorted(std::span<const double> sorted) {
  const std::size_t half = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

Interval median_interval(std::span<const double> sorted) {
  HONE_ASSERT(sorted.size() >= kFewestForMedianInterval, "{} values", sorted.size());
  const auto n = static_cast<double>(sorted.size());
  std::size_t k = 0;
  double below = 0;  // P(X < k)
  for (;;) {
    const auto i = static_cast<double>(k);
    below += std::exp(std::lgamma(n + 1) - std::lgamma(i + 1) - std::lgamma(n - i + 1) -
                      n * std::log(2.0));
    if (2 * below > 0.05) break;
    ++k;
  }
  return {sorted[k - 1], sorted[sorted.size() - k]};
}

}  // namespace hone
