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

/// What no interval of a repeat can be given of fewer values.
inline constexpr std::size_t kFewestForRepeatInterval = 9;

/// The interval behind sorted values that contains the median of a repeat, at least 95%, whatever their distribution: a prediction interval
/// (Fligner and Wolfe, Nonparametric prediction intervals for a future sample median, JASA 1979). Values of both samples are exchangeable. It
/// is the k-th value from either end, k the largest with
///
///     2 Σ_{j<k} C(m-1+j, j) C(2n-m-j, n-j) / C(2n, n) <= 5%,   m = n/2 rounded up
///
/// where the j-th term is the probability that j of these n values are below the m-th of n others: the second and the twelfth of thirteen.
/// It is wider than `median_interval`, which contains the median of the distribution. There are `kFewestForRepeatInterval` values at least.
Interval repeat_interval(std::span<const double> sorted);

}  // namespace hone
