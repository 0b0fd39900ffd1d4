#pragma once

#include <vector>

namespace hone {

/// Returns the mean, with the same bits for any order of the values: they are added in ascending order. NaN without
/// values, or if one is NaN.
double mean_in_any_order(std::vector<double> values);

}  // namespace hone
