#pragma once

#include <span>

#include "hone/metrics/proportion.h"

/// The middle of values whose distribution is unknown, as times of a busy machine are.
namespace hone {

/// The middle of sorted values, of which there is one at least; the mean of the middle two of an even number.
double median_of_sorted(std::span<const double> sorted);

/// What no interval of the median can be given of fewer values.
inline constexpr std::size_t kFewestForMedianInterval = 6;

/// The interval of the median behind sorted values, at least 95%, whatever their distribution, by the sign test (Conover,
/// Practical Nonparametric Statistics, section 3.2): the k-th value from either end, k the largest with
///
///     2 P(X < k) <= 5%,   X binomial with n and ½
///
/// so the third and the tenth of twelve. There are `kFewestForMedianInterval` values at least.
Interval median_interval(std::span<const double> sorted);

}  // namespace hone
