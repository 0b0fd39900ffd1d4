#include "hone/formats/binary.h"

#include <cmath>

#include "hone/formats/codes.h"
#include "hone/formats/groups.h"
#include "hone/formats/mode.h"
#include "hone/kernels/row_loop.h"
#include "hone/kernels/scalar/sign.h"
#include "hone/kernels/sign.h"

namespace hone {
namespace {

bool scaled(const Format& format) { return format.is("scale", "row"); }
void complete(Format& format) { resolve_auto(format, "scale", is_mase(format) ? "none" : "row"); }

Rows groups_of(const Format& format, const Sizes& sizes) {
  if (!scaled(format)) return whole_tensor(sizes);
  return is_mase(format) ? slices_of(sizes) : rows_of(sizes);
}

Locality locality(const Format& format, std::int64_t /*rank*/) {
  if (!scaled(format)) return Locality::element;
  return is_mase(format) ? Locality::tensor : Locality::row;
}

float old_mean(std::span<const float> x) {
  double sum = 0;
  for (const float value : x) sum += std::fabs(static_cast<double>(value));
  return static_cast<float>(sum / static_cast<double>(x.size()));
}

float alpha_reference(const Format& format, std::span<const float> x) {
  if (!scaled(format)) return 1;
  if (is_mase(format)) return old_mean(x);
  return static_cast<float>(magnitudes_above_reference(-1, x).mean());
}

// Returns the two values of the format. Code 1 is the lower one.
scalar::TwoValues values_of(const Format& format, float alpha) {
  using Rule = scalar::TwoValues::Rule;
  const Rule rule = !is_mase(format) ? Rule::fixed
                    : scaled(format) ? Rule::above_zero
                                     : Rule::at_zero;
  return scalar::TwoValues{.rule = rule}.scaled(alpha);
}

void quantize_group(const Format& format, float alpha, std::span<const float> x,
                    std::span<float> y) {
  const scalar::TwoValues values = values_of(format, alpha);
  for (std::size_t i = 0; i < x.size(); ++i) y[i] = values(x[i]);
}

void quantize_reference(const QuantizerInput& input, std::span<float> y) {
  const Rows groups = groups_of(input.format, input.sizes);
  for (std::int64_t g = 0; g < groups.count; ++g) {
    const auto x = group_of(input.x, groups, g);
    quantize_group(input.format, alpha_reference(input.format, x), x, group_of(y, groups, g));
  }
}

void quantize_old(const QuantizerInput& input, ThreadPool& pool, std::span<float> y) {
  if (!scaled(input.format)) {
    parallel_ranges(pool, static_cast<std::int64_t>(y.size()), kernels::kChunkElements,
                    [&](std::int64_t begin, std::int64_t end) {
                      const auto at = static_cast<std::size_t>(begin);
                      const auto count = static_cast<std::size_t>(end - begin);
                      quantize_group(input.format, 1, input.x.subspan(at, count),
                                     y.subspan(at, count));
                    });
    return;
  }
  const Rows groups = groups_of(input.format, input.sizes);
  kernels::for_rows(pool, groups.count, groups.columns, [&](std::int64_t g) {
    const auto x = group_of(input.x, groups, g);
    quantize_group(input.format, old_mean(x), x, group_of(y, groups, g));
  });
}

void quantize(const QuantizerInput& input, ThreadPool& pool, std::span<float> y) {
  if (is_mase(input.format)) return quantize_old(input, pool, y);
  const Rows groups = groups_of(input.format, input.sizes);
  kernels::for_rows(pool, groups.count, groups.columns, [&](std::int64_t g) {
    const float* const x = group_of(input.x, groups, g).data();
    const float alpha =
        scaled(input.format)
            ? static_cast<float>(kernels::magnitudes_above(pool, -1, groups.columns, x).mean())
            : 1;
    kernels::residual_signs(pool, {&alpha, 1}, groups.columns, x, group_of(y, groups, g).data());
  });
}

GradientRule gradient_rule(const Format& format) {
  return is_mase(format) ? GradientRule::straight_through : GradientRule::own;
}

void backward(const QuantizerInput& input, ThreadPool& pool, std::span<const float> dy,
              std::span<float> dx, std::span<Tensor>) {
  kernels::clip_gradient(pool, 1, static_cast<std::int64_t>(dy.size()), input.x.data(), dy.data(),
                         dx.data());
}

CodeLayout layout(const Format& format, const Sizes& sizes) {
  if (!scaled(format)) return {1};
  return {1, 32, groups_of(format, sizes).count};
}

Codes encode(const QuantizerInput& input) {
  const Rows groups = groups_of(input.format, input.sizes);
  const scalar::TwoValues values = values_of(input.format, 1);
  Codes codes;
  codes.elements.reserve(input.x.size());
  for (std::int64_t g = 0; g < groups.count; ++g) {
    const auto group = group_of(input.x, groups, g);
    for (const float x : group) {
      check_has_code(input.format, is_mase(input.format) || !std::isnan(x), x);
      codes.elements.push_back(values.is_low(x) ? 1 : 0);
    }
    if (!scaled(input.format)) continue;
    const float alpha = alpha_reference(input.format, group);
    check_has_code(input.format, std::isfinite(alpha), alpha);
    codes.shared.push_back(float_code(alpha));
  }
  return codes;
}

void decode(const QuantizerInput& input, const Codes& codes, std::span<float> y) {
  const Rows groups = groups_of(input.format, input.sizes);
  for (std::int64_t g = 0; g < groups.count; ++g) {
    const float alpha =
        scaled(input.format) ? float_value(codes.shared[static_cast<std::size_t>(g)]) : 1;
    const float low = values_of(input.format, alpha).low;
    const auto from = group_of(std::span(codes.elements), groups, g);
    const auto to = group_of(y, groups, g);
    for (std::size_t i = 0; i < to.size(); ++i) to[i] = from[i] == 1 ? low : alpha;
  }
}

std::optional<CodeUnits> units(const QuantizerInput& input) {
  const Rows groups = groups_of(input.format, input.sizes);
  const std::optional<std::int64_t> group = unit_group(groups, input.sizes);
  if (!group) return std::nullopt;
  CodeUnits units{.units = {1, values_of(input.format, 1).low}, .group = *group, .scales = {}};
  if (!scaled(input.format)) units.scales.assign(static_cast<std::size_t>(groups.count), 1);
  return units;
}

}  // namespace

FormatDef binary_format() {
  return {.name = "binary",
          .summary = "signs times the mean magnitude of the row, for weights",
          .source = "Rastegari et al., XNOR-Net, ECCV 2016",
          .parameters = {{"scale",
                          "mean magnitude of the row, or 1; auto: row, none with mode=mase",
                          0,
                          0,
                          0,
                          {"auto", "row", "none"}},
                         mode_parameter()},
          .complete = complete,
          .layout = layout,
          .fields = [](const Format&) -> std::vector<CodeField> {
            return {{"sign", 1}};
          },
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
