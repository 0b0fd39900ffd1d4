#include "hone/formats/int.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "hone/base/error.h"
#include "hone/formats/codes.h"
#include "hone/formats/groups.h"
#include "hone/formats/int_groups.h"
#include "hone/formats/learned_scale.h"
#include "hone/formats/mode.h"
#include "hone/formats/row_groups.h"
#include "hone/kernels/row_loop.h"
#include "hone/kernels/scalar/scaled_integer.h"
#include "hone/kernels/scaled_integer.h"

namespace hone {
namespace {

using kernels::ScaledGrid;
using kernels::ValueRange;

bool dynamic(const Format& format) { return format.is("scale", "dynamic"); }
bool learned(const Format& format) { return format.is("scale", "learned"); }
bool affine(const Format& format) { return format.is("range", "affine"); }
int bits_of(const Format& format) { return static_cast<int>(format["bits"]); }
bool in_groups(const Format& format) { return format["group"] > 0; }

float bound_of(const Format& format) { return std::ldexp(1.0f, bits_of(format) - 1) - 1; }

void complete(Format& format) {
  if (format.is("asymmetric", "true")) {
    format["range"] = 1;  // affine
    format["asymmetric"] = 0;
  }
  const bool token = format.is("per", "token");
  if (in_groups(format)) {
    user_check(!is_mase(format) && format.is("per", "auto") && !format.is("scale", "static") &&
                   !learned(format),
               "with group, scales are computed from the values of each group; give only bits "
               "and range with it");
    user_check(bits_of(format) <= kMostUnitBits,
               "scales of groups have 16 bits, too few for codes of {}; use bits of 2 to {}",
               bits_of(format), kMostUnitBits);
    return resolve_auto(format, "scale", "dynamic");
  }
  if (is_mase(format)) {
    user_check(!token && !format.is("per", "tensor") && !format.is("scale", "static") &&
                   !learned(format) && !affine(format),
               "mode=mase has dynamic symmetric scales per row only; give only bits with it");
    resolve_auto(format, "per", "row");
    resolve_auto(format, "scale", "dynamic");
  }
  resolve_auto(format, "per", "tensor");
  resolve_auto(format, "scale", token ? "dynamic" : "static");
  user_check(!token || dynamic(format),
             "per=token has as many scales as an activation has rows, which is not known "
             "before the call; use scale=dynamic, or per=tensor");
  user_check(!learned(format) || !affine(format),
             "learned scales have no zero point; use range=symmetric, or scale=static");
}

Locality locality(const Format& format, std::int64_t /*rank*/) {
  if (!dynamic(format)) return Locality::element;
  return format.is("per", "tensor") ? Locality::tensor : Locality::row;
}

Rows groups_of(const Format& format, const Sizes& sizes) {
  return format.is("per", "tensor") ? whole_tensor(sizes) : rows_of(sizes);
}

ScaledGrid to_kernel_grid(const scalar::ScaledGrid& grid) {
  return {grid.scale, grid.lowest, grid.highest};
}

// Returns the grid of a scale and a zero point, which symmetric ranges ignore.
ScaledGrid grid_of(const Format& format, float scale, float zero_point) {
  return to_kernel_grid(
      scalar::integer_grids(bits_of(format), affine(format)).of(scale, zero_point));
}

ScaledGrid grid_for(const Format& format, const ValueRange& range) {
  return to_kernel_grid(scalar::integer_grids(bits_of(format), affine(format))
                            .of(scalar::ValueRange{range.lowest, range.highest}));
}

ScaledGrid grid_of_state(const QuantizerInput& input, std::int64_t group) {
  const auto at = static_cast<std::size_t>(group);
  const float zero = affine(input.format) ? input.state[1].values<float>()[at] : 0;
  return grid_of(input.format, input.state[0].values<float>()[at], zero);
}

ScaledGrid grid_reference(const QuantizerInput& input, const Rows& groups, std::int64_t g) {
  return dynamic(input.format)
             ? grid_for(input.format, finite_range_reference(group_of(input.x, groups, g)))
             : grid_of_state(input, g);
}

// Returns the integer code value of x, NaN for NaN.
float whole_of(const ScaledGrid& grid, float x) {
  return scalar::ScaledGrid{grid.scale, grid.lowest, grid.highest}.whole(x);
}

// MASE's scale_integer on one row.
scalar::OldScaledRow old_row(std::span<const float> x, int bits) {
  float largest = 0;
  for (const float value : x) {
    if (!(std::fabs(value) <= largest)) largest = std::fabs(value);
    if (std::isnan(largest)) break;
  }
  return scalar::OldScaledRows{bits}.of(largest);
}

void quantize_old_row(int bits, std::span<const float> x, std::span<float> y) {
  const scalar::OldScaledRow row = old_row(x, bits);
  for (std::size_t i = 0; i < x.size(); ++i) y[i] = row(x[i]);
}

void quantize_reference(const QuantizerInput& input, std::span<float> y) {
  if (in_groups(input.format)) return int_groups::quantize_reference(input, y);
  const Rows groups = groups_of(input.format, input.sizes);
  for (std::int64_t g = 0; g < groups.count; ++g) {
    const auto from = group_of(input.x, groups, g);
    const auto to = group_of(y, groups, g);
    if (is_mase(input.format)) {
      quantize_old_row(bits_of(input.format), from, to);
      continue;
    }
    const ScaledGrid grid = grid_reference(input, groups, g);
    for (std::size_t i = 0; i < from.size(); ++i) to[i] = whole_of(grid, from[i]) * grid.scale;
  }
}

void quantize(const QuantizerInput& input, ThreadPool& pool, std::span<float> y) {
  if (in_groups(input.format)) return int_groups::quantize(input, pool, y);
  const Rows groups = groups_of(input.format, input.sizes);
  kernels::for_rows(pool, groups.count, groups.columns, [&](std::int64_t g) {
    const auto from = group_of(input.x, groups, g);
    const auto to = group_of(y, groups, g);
    if (is_mase(input.format)) return quantize_old_row(bits_of(input.format), from, to);
    const ScaledGrid grid =
        dynamic(input.format)
            ? grid_for(input.format, kernels::finite_range(pool, groups.columns, from.data()))
            : grid_of_state(input, g);
    kernels::round_to_grid(pool, grid, groups.columns, from.data(), to.data());
  });
}

GradientRule gradient_rule(const Format& format) {
  return learned(format) ? GradientRule::own : GradientRule::straight_through;
}

void backward(const QuantizerInput& input, ThreadPool& pool, std::span<const float> dy,
              std::span<float> dx, std::span<Tensor> state_gradients) {
  learned_scale_backward(input, groups_of(input.format, input.sizes), bound_of(input.format), pool,
                         dy, dx, state_gradients[0]);
}

std::vector<FormatStateDef> state(const Format& format) {
  if (dynamic(format)) return {};
  const bool per_row = format.is("per", "row");
  std::vector<FormatStateDef> states = {
      {"scale", "step of the codes", {}, per_row, learned(format)}};
  if (affine(format)) states.push_back({"zero_point", "code of 0", {}, per_row, false});
  return states;
}

std::vector<Tensor> calibrate(const Format& format, const Observation& seen) {
  const float bound = bound_of(format);
  if (learned(format)) {
    const double start = 2 * seen.mean_magnitude() / std::sqrt(static_cast<double>(bound));
    return {Tensor::scalar(usable_scale(static_cast<float>(start), bound))};
  }
  const bool any = seen.count() > 0;
  const ScaledGrid grid = grid_for(format, {any ? std::min(seen.minimum(), 0.0f) : 0.0f,
                                            any ? std::max(seen.maximum(), 0.0f) : 0.0f});
  std::vector<Tensor> tensors = {Tensor::scalar(grid.scale)};
  if (affine(format)) tensors.push_back(Tensor::scalar(-grid.lowest));
  return tensors;
}

CodeLayout layout(const Format& format, const Sizes& sizes) {
  if (in_groups(format)) return int_groups::layout(format, sizes);
  const bool with_sign = !affine(format);
  if (!dynamic(format)) return {bits_of(format), 0, 0, with_sign};
  return {bits_of(format), 32, groups_of(format, sizes).count * (affine(format) ? 2 : 1),
          with_sign};
}

void encode_old_row(const Format& format, std::span<const float> x, Codes& codes) {
  const scalar::OldScaledRow row = old_row(x, bits_of(format));
  for (const float value : x) {
    check_has_code(format, std::isfinite(value), value);
    codes.elements.push_back(
        signed_code(static_cast<std::int64_t>(row.whole(value)), bits_of(format)));
  }
  codes.shared.push_back(float_code(row.scale));
}

void encode_group(const QuantizerInput& input, const ScaledGrid& grid, std::span<const float> x,
                  Codes& codes) {
  const bool is_affine = affine(input.format);
  const int bits = bits_of(input.format);
  for (const float value : x) {
    check_has_code(input.format, !std::isnan(value), value);
    const float whole = whole_of(grid, value);
    codes.elements.push_back(is_affine ? static_cast<std::uint32_t>(whole - grid.lowest)
                                       : signed_code(static_cast<std::int64_t>(whole), bits));
  }
  if (!dynamic(input.format)) return;
  codes.shared.push_back(float_code(grid.scale));
  if (is_affine) codes.shared.push_back(float_code(-grid.lowest));
}

Codes encode(const QuantizerInput& input) {
  if (in_groups(input.format)) return int_groups::encode(input);
  const Rows groups = groups_of(input.format, input.sizes);
  Codes codes;
  codes.elements.reserve(input.x.size());
  for (std::int64_t g = 0; g < groups.count; ++g) {
    const auto x = group_of(input.x, groups, g);
    if (is_mase(input.format)) {
      encode_old_row(input.format, x, codes);
    } else {
      encode_group(input, grid_reference(input, groups, g), x, codes);
    }
  }
  return codes;
}

ScaledGrid decoded_grid(const QuantizerInput& input, const Codes& codes, std::int64_t g) {
  if (!dynamic(input.format)) return grid_of_state(input, g);
  const auto at = static_cast<std::size_t>(g);
  if (!affine(input.format)) return grid_of(input.format, float_value(codes.shared[at]), 0);
  return grid_of(input.format, float_value(codes.shared[2 * at]),
                 float_value(codes.shared[2 * at + 1]));
}

void decode(const QuantizerInput& input, const Codes& codes, std::span<float> y) {
  if (in_groups(input.format)) return int_groups::decode(input, codes, y);
  const Rows groups = groups_of(input.format, input.sizes);
  const int bits = bits_of(input.format);
  for (std::int64_t g = 0; g < groups.count; ++g) {
    const auto to = group_of(y, groups, g);
    const auto from = group_of(std::span(codes.elements), groups, g);
    if (is_mase(input.format)) {
      const float scale = float_value(codes.shared[static_cast<std::size_t>(g)]);
      for (std::size_t i = 0; i < to.size(); ++i)
        to[i] = static_cast<float>(signed_value(from[i], bits)) / scale;
      continue;
    }
    const ScaledGrid grid = decoded_grid(input, codes, g);
    for (std::size_t i = 0; i < to.size(); ++i) {
      const float whole = affine(input.format) ? static_cast<float>(from[i]) + grid.lowest
                                               : static_cast<float>(signed_value(from[i], bits));
      to[i] = whole * grid.scale;
    }
  }
}

std::optional<CodeUnits> units(const QuantizerInput& input) {
  const Format& format = input.format;
  if (in_groups(format)) return int_groups::units(input);
  if (bits_of(format) > kMostUnitBits) return std::nullopt;
  const Rows groups = groups_of(format, input.sizes);
  const std::optional<std::int64_t> group = unit_group(groups, input.sizes);
  if (!group) return std::nullopt;
  CodeUnits units{.units = {},
                  .group = *group,
                  .scales = {},
                  .shared_zero_points = affine(format) && dynamic(format),
                  .divides = is_mase(format)};
  for (std::uint32_t code = 0; code < 1u << bits_of(format); ++code)
    units.units.push_back(
        static_cast<float>(affine(format) ? code : signed_value(code, bits_of(format))));
  if (dynamic(format)) return units;
  for (std::int64_t g = 0; g < groups.count; ++g) {
    const ScaledGrid grid = grid_of_state(input, g);
    units.scales.push_back(grid.scale);
    if (affine(format)) units.offsets.push_back(grid.lowest);
  }
  return units;
}

}  // namespace

FormatDef int_format() {
  return {
      .name = "int",
      .summary = "integers times a scale, set by the largest magnitude",
      .source = "learned scales: Esser et al., Learned Step Size Quantization, ICLR 2020",
      .parameters =
          {{"bits", "bits of a code", 2, 16, 8},
           {.name = "group",
            .summary = "neighbours in a row that share a 16-bit scale; 0: see per",
            .minimum = 0,
            .maximum = 65536,
            .default_value = 0,
            .tunable = false,
            .optional = true},
           {"per",
            "values that share a scale; auto: the tensor",
            0,
            0,
            0,
            {"auto", "tensor", "row", "token"}},
           {"range", "symmetric around 0, or with a zero point", 0, 0, 0, {"symmetric", "affine"}},
           {"scale",
            "from calibration, from the tensor on every call, or trained; auto: static "
            "where it can be",
            0,
            0,
            0,
            {"auto", "static", "dynamic", "learned"}},
           {.name = "asymmetric",
            .summary = "true: another way to write range=affine",
            .words = {"false", "true"},
            .tunable = false},
           mode_parameter()},
      .complete = complete,
      .layout = layout,
      .fields = [](const Format& format) -> std::vector<CodeField> {
        return {{"integer", bits_of(format)}};
      },
      .state = state,
      .calibrate = calibrate,
      .quantize_reference = quantize_reference,
      .quantize = quantize,
      .locality = locality,
      .gradient_rule = gradient_rule,
      .backward = backward,
      .encode = encode,
      .decode = decode,
      .units = units};
}

}  // namespace hone
