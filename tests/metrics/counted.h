#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>
#include <vector>

#include "hone/metrics/planning.h"
#include "hone/metrics/verdict.h"

namespace hone::testing {

/// Returns a comparison with only the three counts of Tango's score.
inline Comparison counts(std::int64_t examples, std::int64_t lost, std::int64_t gained) {
  Comparison c;
  c.examples = examples;
  c.only_baseline = lost;
  c.only_candidate = gained;
  return c;
}

/// Returns the full comparison of `examples` examples.
inline Comparison counted(std::int64_t examples, std::int64_t lost, std::int64_t gained) {
  Comparison c = counts(examples, lost, gained);
  c.mcnemar_p = mcnemar_p(lost, gained);
  c.flips = lost + gained;
  c.flip_share = static_cast<double>(c.flips) / static_cast<double>(examples);
  return c;
}

/// Returns the accuracy changes of comparisons.
inline std::vector<MetricChange> changes_of(std::span<const Comparison> comparisons) {
  std::vector<MetricChange> changes;
  for (const Comparison& c : comparisons) changes.push_back(accuracy_change(c));
  return changes;
}

// Returns the probability that n examples with these rates give a verdict that satisfies `wanted`. Sums over all counts
// with a probability above 1e-12.
inline double chance(std::int64_t n, const DisagreementRates& rates, double margin,
                     const std::function<bool(Conclusion)>& wanted) {
  const auto log_binomial = [](std::int64_t all, std::int64_t k, double p) {
    const double a = static_cast<double>(all), x = static_cast<double>(k);
    const double none = k == 0 ? 0 : x * std::log(p);
    return std::lgamma(a + 1) - std::lgamma(x + 1) - std::lgamma(a - x + 1) + none +
           (a - x) * std::log1p(-p);
  };
  const auto around = [](std::int64_t all, double p, const std::function<void(std::int64_t)>& f) {
    const double mean = static_cast<double>(all) * p, reach = 7.5 * std::sqrt(mean) + 10;
    const auto low = static_cast<std::int64_t>(std::max(0.0, mean - reach));
    const auto high = std::min(all, static_cast<std::int64_t>(mean + reach));
    for (std::int64_t k = low; k <= high; ++k) f(k);
  };
  double total = 0;
  around(n, rates.lost, [&](std::int64_t lost) {
    const double first = log_binomial(n, lost, rates.lost);
    const double p = rates.gained / (1 - rates.lost);
    around(n - lost, p, [&](std::int64_t gained) {
      const double probability = std::exp(first + log_binomial(n - lost, gained, p));
      const double score = tango_score(counts(n, lost, gained), -margin);
      const Conclusion conclusion = score >= kNormal975    ? Conclusion::within_limit
                                    : score <= -kNormal975 ? Conclusion::exceeds_limit
                                                           : Conclusion::inconclusive;
      if (wanted(conclusion)) total += probability;
    });
  });
  return total;
}

inline bool is_kept(Conclusion c) { return c == Conclusion::within_limit; }
inline bool is_lost(Conclusion c) { return c == Conclusion::exceeds_limit; }

}  // namespace hone::testing
