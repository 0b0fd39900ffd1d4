#include "hone/formats/int_groups.h"

#include <algorithm>
#include <cmath>

#include "hone/formats/codes.h"
#include "hone/formats/row_groups.h"
#include "hone/kernels/scalar/scaled_integer.h"

namespace hone::int_groups {
namespace {

using kernels::ScaledGrid;
using kernels::ValueRange;

constexpr int kScaleBits = 16;

int bits_of(const Format& format) { return static_cast<int>(format["bits"]); }
bool affine(const Format& format) { return format.is("range", "affine"); }

RowGroups groups_of(const QuantizerInput& input) { return {input.sizes, input.format["group"]}; }

float levels_of(const Format& format) { return std::ldexp(1.0f, bits_of(format)) - 1; }

// The grid that a shared code stands for.
ScaledGrid grid_of(const Format& format, std::uint32_t shared) {
  const float scale = scalar::half_value(shared & 0xffff);
  if (affine(format)) {
    const float zero = std::min(static_cast<float>(shared >> kScaleBits), levels_of(format));
    return {scale, -zero, levels_of(format) - zero};
  }
  const float half = std::ldexp(1.0f, bits_of(format) - 1);
  return {scale, -half, half - 1};
}

// The finite value of the largest magnitude, the first of several.
float extreme_of(std::span<const float> x, const ValueRange& range) {
  if (range.highest != -range.lowest)
    return range.highest > -range.lowest ? range.highest : range.lowest;
  if (range.highest == 0) return 0;
  return *std::ranges::find_if(x, [&](float value) { return std::fabs(value) == range.highest; });
}

// The shared code of a group.
std::uint32_t shared_of(const Format& format, std::span<const float> x, const ValueRange& range) {
  if (!affine(format)) {
    const float half = std::ldexp(1.0f, bits_of(format) - 1);
    return scalar::half_scale(extreme_of(x, range) / -half);
  }
  const float levels = levels_of(format);
  // Each term is finite where the difference of the ends might not be. Rounded down, for a larger scale could leave the code
  // of an end out, and what is quantized again would change.
  const std::uint32_t scale =
      scalar::half_scale_below(range.highest / levels - range.lowest / levels);
  const float zero =
      std::clamp(std::nearbyint(-range.lowest / scalar::half_value(scale)), 0.0f, levels);
  return scale | static_cast<std::uint32_t>(zero) << kScaleBits;
}

std::uint32_t shared_reference(const Format& format, std::span<const float> x) {
  return shared_of(format, x, finite_range_reference(x));
}

// The whole number that stands for x; NaN for NaN.
float whole_of(const ScaledGrid& grid, float x) {
  return scalar::ScaledGrid{grid.scale, grid.lowest, grid.highest}.whole(x);
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
    const ScaledGrid grid = grid_of(input.format, shared_reference(input.format, x));
    std::ranges::transform(x, groups.of(y, g).begin(),
                           [&](float value) { return whole_of(grid, value) * grid.scale; });
  }
}

void quantize(const QuantizerInput& input, ThreadPool& pool, std::span<float> y) {
  const RowGroups groups = groups_of(input);
  groups.for_each(pool, [&](std::int64_t g) {
    const auto x = groups.of(input.x, g);
    const ValueRange range = kernels::finite_range(pool, std::ssize(x), x.data());
    const ScaledGrid grid = grid_of(input.format, shared_of(input.format, x, range));
    kernels::round_to_grid(pool, grid, std::ssize(x), x.data(), groups.of(y, g).data());
  });
}

Codes encode(const QuantizerInput& input) {
  const RowGroups groups = groups_of(input);
  const bool is_affine = affine(input.format);
  Codes codes;
  codes.elements.reserve(input.x.size());
  for (std::int64_t g = 0; g < groups.count(); ++g) {
    const auto x = groups.of(input.x, g);
    codes.shared.push_back(shared_reference(input.format, x));
    const ScaledGrid grid = grid_of(input.format, codes.shared.back());
    for (const float value : x) {
      check_has_code(input.format, !std::isnan(value), value);
      const float whole = whole_of(grid, value);
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
    const ScaledGrid grid = grid_of(input.format, codes.shared[static_cast<std::size_t>(g)]);
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
