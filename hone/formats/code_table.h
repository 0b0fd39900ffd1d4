#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "hone/formats/format.h"

namespace hone {

/// An element type of another program's file format, as the values of its codes.
struct CodeTable {
  bool of_floats = false;
  int bits = 0;
  std::vector<float> values;  ///< by code; NaN: a code without a value
};

/// Returns signed integers in offset binary: the code of `lowest` is 0.
CodeTable integer_codes(int bits, int lowest);
/// Returns floats without infinities, as OCP defines E2M1 and E4M3 (Microscaling Formats 1.0).
CodeTable float_codes(int exponent_bits, int mantissa_bits, float highest);

inline const CodeTable kInt4Codes = integer_codes(4, -8), kInt8Codes = integer_codes(8, -128),
                       kUint8Codes = integer_codes(8, 0), kFp4Codes = float_codes(2, 1, 6),
                       kFp8Codes = float_codes(4, 3, 448);

/// The codes of a format, mapped to those of a table whose values are the same up to a power of two.
struct Recoding {
  float step = 1;          ///< the format's unit that corresponds to a value of 1
  std::vector<int> codes;  ///< by the format's code; -1: the table has no such value

  bool has_all() const;
  bool encodes(int code) const;
  /// Returns whether the table has the values of these codes of the format.
  bool covers(const std::vector<std::uint16_t>& elements) const;
};
/// Returns nothing if the ratio of units to values is not a power of two.
std::optional<Recoding> recoded(const CodeUnits& units, const CodeTable& table);

bool is_power_of_two(float value);

}  // namespace hone
