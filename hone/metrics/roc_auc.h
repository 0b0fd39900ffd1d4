#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hone/metrics/proportion.h"

namespace hone {

/// The area under the ROC curve: the probability that a random positive example has a higher score than a random
/// negative one, ties counted half.
struct RocAuc {
  double value = 0;   ///< NaN if it is not defined
  Interval interval;  ///< 95%; [0, 1] if it is not defined
};

/// Computes the area from each example's score and whether it is positive, by the sum of ranks (Mann and Whitney 1947),
/// ties at their mean rank: in O(n log n), and exact except for one division. Not defined (NaN) without positives,
/// without negatives, or with a score that is NaN. `evidence`: as in `auc_interval`.
RocAuc roc_auc(std::span<const double> scores, std::span<const char> positive, double evidence = 1);

/// Returns the contribution of each example to the area: how much smaller it is without the example's text (jackknife).
/// For a positive example, that is the share of negatives scored below it, minus the area, divided by the number of
/// positives of other texts; for a negative one, the same with the share of positives above it. Dividing by the number
/// of all positives is the linearisation (DeLong, DeLong & Clarke-Pearson 1988, Biometrics 44:837), which is too small
/// for ten positives. `texts`: (examples), equal for equal texts; empty: all differ. All NaN if the area is not
/// defined; NaN for the examples of a text that alone is positive, or negative.
std::vector<double> auc_contributions(std::span<const double> scores,
                                      std::span<const char> positive,
                                      std::span<const std::int32_t> texts = {});

/// Returns the 95% interval of an area `auc` observed on this many positives and negatives: the areas θ with
///
///     |auc - θ| ≤ 1.96 sqrt(V(θ)),   V(θ) = θ(1-θ) (1 + N ((1-θ)/(2-θ) + θ/(1+θ))) / (positives · negatives),
///
/// N = (positives + negatives)/2 - 1: method 5 of Newcombe (2006, Statistics in Medicine 25, 559–573), which turns the
/// variance of Hanley and McNeil (1982) into a score interval. Like Wilson's for a share, it is within [0, 1] and has a
/// positive width at 0 and at 1, where the usual intervals have none. If examples repeat, both numbers are multiplied
/// by their `evidence` (hone/metrics/evidence.h).
Interval auc_interval(double auc, std::int64_t positives, std::int64_t negatives,
                      double evidence = 1);

}  // namespace hone
