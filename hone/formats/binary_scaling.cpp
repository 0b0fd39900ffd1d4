#include "hone/formats/binary_scaling.h"

#include <algorithm>
#include <cmath>

#include "hone/formats/codes.h"
#include "hone/formats/groups.h"
#include "hone/formats/learned_scale.h"
#include "hone/kernels/row_loop.h"
#include "hone/kernels/scalar/sign.h"
#include "hone/kernels/sign.h"

namespace hone {
namespace {

bool learned(const Format& format) { return format.is("scale", "learned"); }

Rows groups_of(const Format& format, const Sizes& sizes) {
  return format.is("per", "tensor") ? whole_tensor(sizes) : rows_of(sizes);
}

float alpha_of(const QuantizerInput& input, std::int64_t group) {
  return input.state[0].values<float>()[static_cast<std::size_t>(group)];
}

void quantize_reference(const QuantizerInput& input, std::span<float> y) {
  const Rows groups = groups_of(input.format, input.sizes);
  for (std::int64_t g = 0; g < groups.count; ++g) {
    const float alpha = alpha_of(input, g);
    const auto x = group_of(input.x, groups, g);
    const auto to = group_of(y, groups, g);
    const scalar::TwoValues values{-alpha, alpha};
    for (std::size_t i = 0; i < x.size(); ++i) to[i] = values(x[i]);
  }
}

void quantize(const QuantizerInput& input, ThreadPool& pool, std::span<float> y) {
  const Rows groups = groups_of(input.format, input.sizes);
  kernels::for_rows(pool, groups.count, groups.columns, [&](std::int64_t g) {
    const float alpha = alpha_of(input, g);
    kernels::residual_signs(pool, {&alpha, 1}, groups.columns, group_of(input.x, groups, g).data(),
                            group_of(y, groups, g).data());
  });
}

void backward(const QuantizerInput& input, ThreadPool& pool, std::span<const float> dy,
              std::span<float> dx, std::span<Tensor> state_gradients) {
  const Rows groups = groups_of(input.format, input.sizes);
  const double pace = gradient_scale(groups.columns, 1);
  kernels::for_rows(pool, groups.count, groups.columns, [&](std::int64_t g) {
    const float alpha = alpha_of(input, g);
    const float* const x = group_of(input.x, groups, g).data();
    const float* const slope = group_of(dy, groups, g).data();
    // This must precede the write to dx, which may share memory with dy.
    if (learned(input.format)) {
      state_gradients[0].values<float>()[static_cast<std::size_t>(g)] = static_cast<float>(
          pace * kernels::residual_sign_gradient(pool, {&alpha, 1}, 0, groups.columns, x, slope));
    }
    kernels::clip_gradient(pool, std::max(1.0f, std::fabs(alpha)), groups.columns, x, slope,
                           group_of(dx, groups, g).data());
  });
}

Codes encode(const QuantizerInput& input) {
  Codes codes;
  codes.elements.reserve(input.x.size());
  for (const float x : input.x) {
    check_has_code(input.format, !std::isnan(x), x);
    codes.elements.push_back(x < 0 ? 1 : 0);
  }
  return codes;
}

void decode(const QuantizerInput& input, const Codes& codes, std::span<float> y) {
  const Rows groups = groups_of(input.format, input.sizes);
  for (std::int64_t g = 0; g < groups.count; ++g) {
    const float alpha = alpha_of(input, g);
    const auto from = group_of(std::span(codes.elements), groups, g);
    std::ranges::transform(from, group_of(y, groups, g).begin(),
                           [&](std::uint32_t code) { return code == 1 ? -alpha : alpha; });
  }
}

}  // namespace

FormatDef binary_scaling_format() {
  return {
      .name = "binary_scaling",
      .summary = "signs times a calibrated or learned scale, for weights and activations",
      .source =
          "Rastegari et al., XNOR-Net, ECCV 2016; learned: Esser et al., Learned Step Size "
          "Quantization, ICLR 2020",
      .parameters = {{"per", "values that share a scale", 0, 0, 0, {"tensor", "row"}},
                     {"scale", "from calibration, or trained", 0, 0, 0, {"static", "learned"}}},
      .layout = [](const Format&, const Sizes&) { return CodeLayout{1}; },
      .fields = [](const Format&) -> std::vector<CodeField> {
        return {{"sign", 1}};
      },
      .state =
          [](const Format& format) {
            return std::vector<FormatStateDef>{
                {"scale", "magnitude of all values", {}, format.is("per", "row"), learned(format)}};
          },
      .calibrate =
          [](const Format&, const Observation& seen) {
            return std::vector<Tensor>{Tensor::scalar(static_cast<float>(seen.mean_magnitude()))};
          },
      .quantize_reference = quantize_reference,
      .quantize = quantize,
      .locality = independent_elements,
      .gradient_rule = [](const Format&) { return GradientRule::own; },
      .backward = backward,
      .encode = encode,
      .decode = decode};
}

}  // namespace hone
