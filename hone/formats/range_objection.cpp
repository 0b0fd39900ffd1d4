#include "hone/formats/range_objection.h"

#include <cmath>

namespace hone {

std::string range_objection(const Observation& seen, const MagnitudeRange& range, std::int64_t bias,
                            std::int64_t better_bias, std::string_view wider) {
  const double median = seen.count() == 0 ? 0 : seen.magnitude_quantile(0.5);
  const bool vanish = range.smallest > median;
  if (median == 0 || (!vanish && range.highest >= median)) return "";
  const std::string advice = bias == better_bias ? fmt::format("a larger {}", wider)
                                                 : fmt::format("exponent_bias={}", better_bias);
  return fmt::format(
      "exponent_bias={} makes {} the {} magnitude, but the median magnitude of the "
      "values is {:.3g}, so most of them would be {}; use {}",
      bias, vanish ? range.smallest : range.highest, vanish ? "smallest" : "largest", median,
      vanish ? "rounded to zero or up to it" : "clipped to it", advice);
}

int floor_log2(float x) { return std::ilogb(x); }

int ceil_log2(float x) {
  int exponent = 0;
  const float fraction = std::frexp(x, &exponent);
  return fraction == 0.5f ? exponent - 1 : exponent;
}

}  // namespace hone
