#include "hone/metrics/median.h"

#include <cmath>

#include "hone/base/error.h"

namespace hone {
namespace {

double log_binomial(double n, double k) {
  return std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1);
}

// Returns the k-th value from either end, with the largest k for which the probabilities of 0, 1, … k - 1 add up to at
// most 2.5%.
template <typename Probability>
Interval ends_of(std::span<const double> sorted, const Probability& probability) {
  std::size_t k = 0;
  for (double beyond = probability(0.0); 2 * beyond <= 0.05;
       beyond += probability(static_cast<double>(k)))
    ++k;
  return {sorted[k - 1], sorted[sorted.size() - k]};
}

}  // namespace

double median_of_sorted(std::span<const double> sorted) {
  const std::size_t half = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

Interval median_interval(std::span<const double> sorted) {
  HONE_ASSERT(sorted.size() >= kFewestForMedianInterval, "{} values", sorted.size());
  const auto n = static_cast<double>(sorted.size());
  return ends_of(sorted,
                 [&](double k) { return std::exp(log_binomial(n, k) - n * std::log(2.0)); });
}

Interval repeat_interval(std::span<const double> sorted) {
  HONE_ASSERT(sorted.size() >= kFewestForRepeatInterval, "{} values", sorted.size());
  const auto n = static_cast<double>(sorted.size());
  const double m = std::ceil(n / 2);
  return ends_of(sorted, [&](double j) {
    return std::exp(log_binomial(m - 1 + j, j) + log_binomial(2 * n - m - j, n - j) -
                    log_binomial(2 * n, n));
  });
}

}  // namespace hone
