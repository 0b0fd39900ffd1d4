#pragma once

#include <string>

#include "hone/formats/format.h"

namespace hone {

/// The nonzero magnitudes that a format can represent.
struct MagnitudeRange {
  double smallest;
  double highest;
};

/// For `FormatDef::objection`: explains why an exponent bias is unsuitable, which means that the observed median
/// magnitude is outside the range, and suggests the better bias. Returns "" if it is inside, or if half of all values
/// are zero. `wider` names what to enlarge if the format already has `better_bias`.
std::string range_objection(const Observation& seen, const MagnitudeRange& range, std::int64_t bias,
                            std::int64_t better_bias, std::string_view wider);

/// Returns the largest k with 2^k <= x, for x > 0.
int floor_log2(float x);
/// Returns the smallest k with 2^k >= x, for x > 0.
int ceil_log2(float x);

}  // namespace hone
