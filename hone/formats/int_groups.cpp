#include "hone/formats/int_groups.h"

#include <algorithm>
#include <cmath>

#include "hone/formats/codes.h"
#include "hone/formats/row_groups.h"
#include "hone/kernels/scalar/row_groups.h"

namespace hone::int_groups {
namespace {

using kernels::ValueRange;

int bits_of(const Format& format) { return static_cast<int>(format["bits"]); }
bool affine(const Format& format) { return format.is("range", "affine"); }

RowGroups groups_of(const QuantizerInput& input) { return {input.sizes, input.format["group"]}; }

scalar::IntegerGroups rule_of(const Format& format) {
  return scalar::integer_groups(bits_of(format), affine(format));
}

// Returns the finite value of the largest magnitude, the first of several.
float extreme_of(std::span<const float> x, const ValueRange& range) {
  if (range.highest != -range.lowest)
    return range.highest > -range.lowest ? range.highest : range.lowest;
  if (range.highest == 0) return 0;
  return *std::ranges::find_if(x, [&](float value) { return std::fabs(value) == range.highest; });
}

scalar::IntegerGroup group_of(const Format& format, std::span<const float> x,
                              const ValueRange& range) {
  return rule_of(format).of({{range.lowest, range.highest}, extreme_of(x, range)});
}

scalar::IntegerGroup group_reference(const Format& format, std::span<const float> x) {
  return group_of(format, x, finite_range_reference(x));
}

}  // namespace

CodeLayout layout(const Format& format, const Sizes& sizes) {
  const int bits = bits_of(format);
  return RowGroups(sizes, format["group"]).layout(bits, affine(format) ? bits : 0, !affine(format));
}

void quantize_reference(const QuantizerInput& input, std::span<float> y) {
  const RowGroups groups = groups_of(input);
  for (std::int64_t g = 0; g < groups.count(); ++g) {
    const auto x = groups.of(input.x, g);
    std::ranges::transform(x, groups.of(y, g).begin(), group_reference(input.format, x));
  }
}

void quantize(const QuantizerInput& input, ThreadPool& pool, std::span<float> y) {
  const RowGroups groups = groups_of(input);
  groups.for_each(pool, [&](std::int64_t g) {
    const auto x = groups.of(input.x, g);
    const ValueRange range = kernels::finite_range(pool, std::ssize(x), x.data());
    const scalar::ScaledGrid grid = group_of(input.format, x, range).grid;
    kernels::round_to_grid(pool, {grid.scale, grid.lowest, grid.highest}, std::ssize(x), x.data(),
                           groups.of(y, g).data());
  });
}

Codes encode(const QuantizerInput& input) {
  const RowGroups groups = groups_of(input);
  const bool is_affine = affine(input.format);
  Codes codes;
  codes.elements.reserve(input.x.size());
  for (std::int64_t g = 0; g < groups.count(); ++g) {
    const auto x = groups.of(input.x, g);
    const auto [shared, grid] = group_reference(input.format, x);
    codes.shared.push_back(shared);
    for (const float value : x) {
      check_has_code(input.format, !std::isnan(value), value);
      const float whole = grid.whole(value);
      codes.elements.push_back(
          is_affine ? static_cast<std::uint32_t>(whole - grid.lowest)
                    : signed_code(static_cast<std::int64_t>(whole), bits_of(input.format)));
    }
  }
  return codes;
}

void decode(const QuantizerInput& input, const Codes& codes, std::span<float> y) {
  const RowGroups groups = groups_of(input);
  const bool is_affine = affine(input.format);
  for (std::int64_t g = 0; g < groups.count(); ++g) {
    const scalar::ScaledGrid grid =
        rule_of(input.format).of_shared(codes.shared[static_cast<std::size_t>(g)]).grid;
    const auto value = [&](std::uint32_t code) {
      return (is_affine ? static_cast<float>(code) + grid.lowest
                        : static_cast<float>(signed_value(code, bits_of(input.format)))) *
             grid.scale;
    };
    std::ranges::transform(groups.of(std::span(codes.elements), g), groups.of(y, g).begin(), value);
  }
}

std::optional<CodeUnits> units(const QuantizerInput& input) {
  const int bits = bits_of(input.format);
  CodeUnits units{.units = {},
                  .group = groups_of(input).size,
                  .scales = {},
                  .shared_zero_points = affine(input.format)};
  for (std::uint32_t code = 0; code < 1u << bits; ++code)
    units.units.push_back(
        static_cast<float>(affine(input.format) ? code : signed_value(code, bits)));
  return units;
}

}  // namespace hone::int_groups
