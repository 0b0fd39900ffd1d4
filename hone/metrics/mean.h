#pragma once

#include <vector>

namespace hone {

/// The mean of values, the same bits in whatever order they stand, as the texts of a part may: they are added in rising order. NaN where
/// there are none, or one is.
double mean_in_any_order(std::vector<double> values);

}  // namespace hone
