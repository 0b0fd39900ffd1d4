#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hone/metrics/proportion.h"

namespace hone {

/// The area under the curve of true against false positives: the probability that a random positive example has a
/// higher score than a random negative one, ties counted half.
struct RocAuc {
  double value = 0;   ///< NaN when it is not defined
  Interval interval;  ///< 95 %; [0, 1] when it is not defined
};

/// From a score for each example and whether it is positive, by the sum of ranks (Mann and Whitney 1947), ties at their
/// mean rank: in O(n log n), and exact but for one division. Not defined (NaN) without positives, without negatives,
/// or with a score that is NaN. `evidence`: as in `auc_interval`.
RocAuc roc_auc(std::span<const double> scores, std::span<const char> positive, double evidence = 1);

/// What each example adds to the area: how much less that is without its text (jackknife). Of a positive one that is the share of
/// negatives that it is scored above, less the area, over the number of positives of other texts; of a negative one the share of
/// positives above it, in the same way. With the number of all in place of the others it is linearised (DeLong, DeLong &
/// Clarke-Pearson 1988, Biometrics 44:837), and of ten positives too small. `texts`: (examples), equal where a text is the same; empty:
/// all differ. NaN each where the area is not defined, and of the examples of a text that alone is positive, or negative.
std::vector<double> auc_parts(std::span<const double> scores, std::span<const char> positive,
                              std::span<const std::int32_t> texts = {});

/// The 95 % interval of an area `auc` seen on so many positives and negatives: the areas θ with
///
///     |auc - θ| ≤ 1.96 sqrt(V(θ)),   V(θ) = θ(1-θ) (1 + N ((1-θ)/(2-θ) + θ/(1+θ))) / (positives · negatives),
///
/// N = (positives + negatives)/2 - 1: method 5 of Newcombe (2006, Statistics in Medicine 25, 559–573), which turns the
/// variance of Hanley and McNeil (1982) into a score interval. Like Wilson's for a share, it lies within [0, 1] and has
/// a positive width at 0 and at 1, where the usual intervals have none. Where examples repeat one another, both numbers
/// are taken times their `evidence` (hone/metrics/evidence.h).
Interval auc_interval(double auc, std::int64_t positives, std::int64_t negatives,
                      double evidence = 1);

}  // namespace hone
