#include "hone/metrics/mean.h"

#include <algorithm>
#include <compare>
#include <limits>
#include <numeric>

namespace hone {

double mean_in_any_order(std::vector<double> values) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  // A total order of all doubles, including NaN.
  std::ranges::sort(values, [](double a, double b) { return std::strong_order(a, b) < 0; });
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace hone
