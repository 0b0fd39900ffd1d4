#pragma once

#include <span>

#include "hone/metrics/proportion.h"

/// Medians of values with an unknown distribution, such as times on a busy machine.
namespace hone {

/// Returns the median of at least one sorted value; the mean of the middle two of an even number.
double median_of_sorted(std::span<const double> sorted);

/// The smallest number of values with an interval of the median.
inline constexpr std::size_t kFewestForMedianInterval = 6;

/// Returns the interval of the median behind sorted values, at least 95%, whatever their distribution, by the sign test
/// (Conover, Practical Nonparametric Statistics, section 3.2). It is the k-th value from either end, with the largest k
/// for which
///
///     2 P(X < k) <= 5%,   X binomial with n and ½
///
/// so the third and the tenth of twelve. Requires at least `kFewestForMedianInterval` values.
Interval median_interval(std::span<const double> sorted);

/// The smallest number of values with an interval of a repeat.
inline constexpr std::size_t kFewestForRepeatInterval = 9;

/// Returns the interval from sorted values that contains the median of a repeat, at least 95%, whatever their
/// distribution: a prediction interval (Fligner and Wolfe, Nonparametric prediction intervals for a future sample
/// median, JASA 1979). Values of both samples are exchangeable. It is the k-th value from either end, with the largest
/// k for which
///
///     2 Σ_{j<k} C(m-1+j, j) C(2n-m-j, n-j) / C(2n, n) <= 5%,   m = n/2 rounded up
///
/// where the j-th term is the probability that j of these n values are below the m-th of n others: the second and the
/// twelfth of thirteen. It is wider than `median_interval`, which contains the median of the distribution. Requires at
/// least `kFewestForRepeatInterval` values.
Interval repeat_interval(std::span<const double> sorted);

}  // namespace hone
