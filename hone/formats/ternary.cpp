#include "hone/formats/ternary.h"

#include <algorithm>
#include <cmath>

#include "hone/base/error.h"
#include "hone/formats/codes.h"
#include "hone/formats/groups.h"
#include "hone/formats/learned_scale.h"
#include "hone/formats/mode.h"
#include "hone/kernels/row_loop.h"
#include "hone/kernels/scalar/scaled_integer.h"
#include "hone/kernels/scalar/sign.h"
#include "hone/kernels/sign.h"

namespace hone {
namespace {

using scalar::kTernaryThreshold;

bool learned(const Format& format) { return format.is("scale", "learned"); }
bool dynamic(const Format& format) { return format.is("scale", "dynamic"); }
void complete(Format& format) {
  user_check(!is_mase(format) || !learned(format),
             "mode=mase computes its scale from the tensor; use scale=dynamic or scale=none");
  user_check(!is_mase(format) || format.is("per", "row"),
             "mode=mase has a scale for every slice of the first axis; omit per");
}

Rows groups_of(const Format& format, const Sizes& sizes) {
  if (is_mase(format)) return slices_of(sizes);
  return format.is("per", "tensor") ? whole_tensor(sizes) : rows_of(sizes);
}

Locality locality(const Format& format, std::int64_t /*rank*/) {
  if (learned(format)) return Locality::element;
  return is_mase(format) || format.is("per", "tensor") ? Locality::tensor : Locality::row;
}

using scalar::Ternary;

// `magnitudes(threshold)` returns those of the group above a threshold.
template <typename MagnitudesAbove>
Ternary ternary_of(const Format& format, MagnitudesAbove&& magnitudes) {
  const float threshold = scalar::float_below(kTernaryThreshold * magnitudes(-1.0f).mean());
  const float alpha = dynamic(format) ? static_cast<float>(magnitudes(threshold).mean()) : 1.0f;
  return {threshold, alpha};
}

Ternary old_ternary(const Format& format, std::span<const float> x) {
  double sum = 0, sum_above = 0, count_above = 0;
  for (const float value : x) sum += std::fabs(static_cast<double>(value));
  const float mean = static_cast<float>(sum / static_cast<double>(x.size()));
  const float threshold = static_cast<float>(kTernaryThreshold) * mean;
  for (const float value : x) {
    if (!(std::fabs(value) > threshold)) continue;
    sum_above += std::fabs(static_cast<double>(value));
    ++count_above;
  }
  return {threshold, dynamic(format) ? static_cast<float>(sum_above / count_above) : 1.0f, true};
}

Ternary ternary_reference(const Format& format, std::span<const float> x) {
  if (is_mase(format)) return old_ternary(format, x);
  return ternary_of(format,
                    [&](float threshold) { return magnitudes_above_reference(threshold, x); });
}

kernels::ScaledGrid grid_of(const QuantizerInput& input, std::int64_t group) {
  return learned_grid(input.state[0].values<float>()[static_cast<std::size_t>(group)], 1);
}

float whole_of(const kernels::ScaledGrid& grid, float x) {
  return scalar::ScaledGrid{grid.scale, grid.lowest, grid.highest}.whole(x);
}

void quantize_reference(const QuantizerInput& input, std::span<float> y) {
  const Rows groups = groups_of(input.format, input.sizes);
  for (std::int64_t g = 0; g < groups.count; ++g) {
    const auto x = group_of(input.x, groups, g);
    const auto to = group_of(y, groups, g);
    if (learned(input.format)) {
      const kernels::ScaledGrid grid = grid_of(input, g);
      for (std::size_t i = 0; i < x.size(); ++i) to[i] = whole_of(grid, x[i]) * grid.scale;
      continue;
    }
    const Ternary ternary = ternary_reference(input.format, x);
    for (std::size_t i = 0; i < x.size(); ++i) to[i] = ternary(x[i]);
  }
}

void quantize(const QuantizerInput& input, ThreadPool& pool, std::span<float> y) {
  const Rows groups = groups_of(input.format, input.sizes);
  const std::int64_t columns = groups.columns;
  kernels::for_rows(pool, groups.count, columns, [&](std::int64_t g) {
    const auto x = group_of(input.x, groups, g);
    const auto to = group_of(y, groups, g);
    if (learned(input.format))
      return kernels::round_to_grid(pool, grid_of(input, g), columns, x.data(), to.data());
    if (is_mase(input.format)) {
      std::ranges::transform(x, to.begin(), old_ternary(input.format, x));
      return;
    }
    const Ternary ternary = ternary_of(input.format, [&](float threshold) {
      return kernels::magnitudes_above(pool, threshold, columns, x.data());
    });
    kernels::signs_above(pool, ternary.threshold, ternary.alpha, columns, x.data(), to.data());
  });
}

void backward(const QuantizerInput& input, ThreadPool& pool, std::span<const float> dy,
              std::span<float> dx, std::span<Tensor> state_gradients) {
  learned_scale_backward(input, groups_of(input.format, input.sizes), 1, pool, dy, dx,
                         state_gradients[0]);
}

std::vector<FormatStateDef> state(const Format& format) {
  if (!learned(format)) return {};
  return {
      {"scale", "magnitude of the values that are not zero", {}, format.is("per", "row"), true}};
}

std::vector<Tensor> calibrate(const Format&, const Observation& seen) {
  const double threshold = kTernaryThreshold * seen.mean_magnitude();
  const Observation::Summary summary = seen.summary();
  double sum = 0, weight = 0;
  for (std::size_t i = 0; i < summary.values.size(); ++i) {
    const double magnitude = std::fabs(summary.values[i]);
    if (!(magnitude > threshold)) continue;
    sum += summary.weights[i] * magnitude;
    weight += summary.weights[i];
  }
  return {Tensor::scalar(usable_scale(static_cast<float>(weight == 0 ? 0 : sum / weight), 1))};
}

CodeLayout layout(const Format& format, const Sizes& sizes) {
  if (!dynamic(format)) return {2, 0, 0, true};
  return {2, 32, groups_of(format, sizes).count, true};
}

// Encodes -1, 0 and 1 in two's complement.
std::uint32_t code_of(float sign) { return signed_code(static_cast<std::int64_t>(sign), 2); }

Codes encode(const QuantizerInput& input) {
  const Rows groups = groups_of(input.format, input.sizes);
  const bool is_learned = learned(input.format);
  Codes codes;
  codes.elements.reserve(input.x.size());
  for (std::int64_t g = 0; g < groups.count; ++g) {
    const auto group = group_of(input.x, groups, g);
    Ternary ternary;
    if (!is_learned) ternary = ternary_reference(input.format, group);
    const kernels::ScaledGrid grid = is_learned ? grid_of(input, g) : kernels::ScaledGrid{};
    const Ternary signs{ternary.threshold, 1};
    for (const float x : group) {
      check_has_code(input.format, !std::isnan(x) && std::isfinite(ternary.alpha), x);
      codes.elements.push_back(code_of(is_learned ? whole_of(grid, x) : signs(x)));
    }
    if (dynamic(input.format)) codes.shared.push_back(float_code(ternary.alpha));
  }
  return codes;
}

void decode(const QuantizerInput& input, const Codes& codes, std::span<float> y) {
  const Rows groups = groups_of(input.format, input.sizes);
  for (std::int64_t g = 0; g < groups.count; ++g) {
    const float alpha = learned(input.format) ? grid_of(input, g).scale
                        : dynamic(input.format)
                            ? float_value(codes.shared[static_cast<std::size_t>(g)])
                            : 1.0f;
    const auto from = group_of(std::span(codes.elements), groups, g);
    std::ranges::transform(from, group_of(y, groups, g).begin(), [&](std::uint32_t code) {
      return static_cast<float>(signed_value(code, 2)) * alpha;
    });
  }
}

std::optional<CodeUnits> units(const QuantizerInput& input) {
  const Rows groups = groups_of(input.format, input.sizes);
  const std::optional<std::int64_t> group = unit_group(groups, input.sizes);
  if (!group) return std::nullopt;
  CodeUnits units{
      .units = {0, 1, std::numeric_limits<float>::quiet_NaN(), -1}, .group = *group, .scales = {}};
  if (dynamic(input.format)) return units;
  for (std::int64_t g = 0; g < groups.count; ++g)
    units.scales.push_back(learned(input.format) ? grid_of(input, g).scale : 1);
  return units;
}

}  // namespace

FormatDef ternary_format() {
  return {.name = "ternary",
          .summary = "-alpha, 0 and alpha, for weights",
          .source =
              "Li et al., Ternary Weight Networks, 2016; learned: Esser et al., Learned Step "
              "Size Quantization, ICLR 2020",
          .parameters = {{"per", "values that share a scale", 0, 0, 0, {"row", "tensor"}},
                         {"scale",
                          "from the tensor on every call, trained, or 1",
                          0,
                          0,
                          0,
                          {"dynamic", "learned", "none"}},
                         mode_parameter()},
          .complete = complete,
          .layout = layout,
          .fields = [](const Format&) -> std::vector<CodeField> {
            return {{"integer", 2}};
          },
          .state = state,
          .calibrate = calibrate,
          .quantize_reference = quantize_reference,
          .quantize = quantize,
          .locality = locality,
          .gradient_rule =
              [](const Format& format) {
                return learned(format) ? GradientRule::own : GradientRule::straight_through;
              },
          .backward = backward,
          .encode = encode,
          .decode = decode,
          .units = units};
}

}  // namespace hone
