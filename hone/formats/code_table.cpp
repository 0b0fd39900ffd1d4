#include "hone/formats/code_table.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "hone/formats/packing.h"

namespace hone {

CodeTable integer_codes(int bits, int lowest) {
  CodeTable table{.of_floats = false, .bits = bits, .values = {}};
  for (int code = 0; code < 1 << bits; ++code)
    table.values.push_back(static_cast<float>(code + lowest));
  return table;
}

CodeTable float_codes(int exponent_bits, int mantissa_bits, float highest) {
  CodeTable table{.of_floats = true, .bits = 1 + exponent_bits + mantissa_bits, .values = {}};
  const int one = 1 << mantissa_bits, bias = (1 << (exponent_bits - 1)) - 1;
  for (int code = 0; code < 1 << table.bits; ++code) {
    const int magnitude = code & ((1 << (table.bits - 1)) - 1), exponent = magnitude / one;
    const int significand = magnitude % one + (exponent > 0 ? one : 0);
    float value =
        std::ldexp(static_cast<float>(significand), std::max(exponent, 1) - bias - mantissa_bits);
    if (value > highest) value = std::numeric_limits<float>::quiet_NaN();
    table.values.push_back(code == magnitude ? value : -value);
  }
  return table;
}

bool Recoding::has_all() const { return std::ranges::find(codes, -1) == codes.end(); }

bool Recoding::encodes(int code) const { return std::ranges::find(codes, code) != codes.end(); }

bool Recoding::covers(const std::vector<std::uint16_t>& elements) const {
  return std::ranges::all_of(elements, [&](std::uint16_t code) { return codes[code] >= 0; });
}

std::optional<Recoding> recoded(const CodeUnits& units, const CodeTable& table) {
  float smallest = std::numeric_limits<float>::infinity();
  for (const float value : table.values)
    if (value != 0) smallest = std::fmin(smallest, std::fabs(value));
  Recoding recoding{.step = smallest_unit(units) / smallest, .codes = {}};
  if (!is_power_of_two(recoding.step)) return std::nullopt;
  for (const float unit : units.units) {
    // No weight has a code without a value.
    const float value = std::isnan(unit) ? 0 : unit / recoding.step;
    const auto found = std::ranges::find(table.values, value);
    recoding.codes.push_back(
        found == table.values.end() ? -1 : static_cast<int>(found - table.values.begin()));
  }
  return recoding;
}

bool is_power_of_two(float value) {
  int exponent = 0;
  return std::isfinite(value) && std::frexp(value, &exponent) == 0.5F;
}

}  // namespace hone
