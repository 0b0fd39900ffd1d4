#include "hone/formats/row_groups.h"

#include <cmath>

namespace hone {

kernels::ValueRange finite_range_reference(std::span<const float> x) {
  kernels::ValueRange range;
  for (const float value : x) {
    if (!std::isfinite(value)) continue;
    range = {std::min(range.lowest, value), std::max(range.highest, value)};
  }
  return range;
}

}  // namespace hone
