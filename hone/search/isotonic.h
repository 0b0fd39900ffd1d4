#pragma once

#include <span>
#include <vector>

namespace hone {

/// Returns the non-decreasing sequence that is closest to `values` in the sum of squares: neighbours out of order
/// share their mean (pool adjacent violators; Ayer and others, "An empirical distribution function for sampling with
/// incomplete information", 1955).
std::vector<double> isotonic_fit(std::span<const double> values);

}  // namespace hone
