#pragma once

#include <string>

#include "hone/formats/format.h"

namespace hone {

/// The nonzero magnitudes a format can stand for.
struct MagnitudeRange {
  double smallest;
  double highest;
};

/// For `FormatDef::objection`: why an exponent bias is hopeless, that is, the median magnitude that
/// was seen lies outside the range, with the better bias; "" when it is not, or when half of all
/// values are zero. `wider` says what to enlarge where `better_bias` is what the format has already.
std::string range_objection(const Observation& seen, const MagnitudeRange& range, std::int64_t bias,
                            std::int64_t better_bias, std::string_view wider);

/// The largest k with 2^k <= x, for x > 0.
int floor_log2(float x);
/// The smallest k with 2^k >= x, for x > 0.
int ceil_log2(float x);

}  // namespace hone
