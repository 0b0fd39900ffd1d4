#include "hone/formats/binary_residual_sign.h"

#include <algorithm>
#include <cmath>

#include "hone/base/error.h"
#include "hone/formats/codes.h"
#include "hone/formats/groups.h"
#include "hone/formats/learned_scale.h"
#include "hone/formats/mode.h"
#include "hone/kernels/grain.h"
#include "hone/kernels/scalar/sign.h"
#include "hone/kernels/sign.h"

namespace hone {
namespace {

using Means = std::vector<float>;

bool learned(const Format& format) { return format.is("scale", "learned"); }
void complete(Format& format) {
  user_check(!is_mase(format) || !learned(format),
             "mode=mase derives the means from their number; omit scale");
}

Means means_of(const QuantizerInput& input) {
  const auto levels = static_cast<int>(input.format["levels"]);
  if (!is_mase(input.format)) {
    const std::span<const float> state = input.state[0].values<float>();
    return {state.begin(), state.end()};
  }
  const scalar::ResidualSigns old = scalar::old_residual_signs(levels);
  return {old.means, old.means + levels};
}

scalar::ResidualSigns signs_of(const QuantizerInput& input, const Means& means) {
  scalar::ResidualSigns signs{.levels = static_cast<int>(means.size()),
                              .old = is_mase(input.format)};
  std::ranges::copy(means, signs.means);
  return signs;
}

void quantize_reference(const QuantizerInput& input, std::span<float> y) {
  const scalar::ResidualSigns signs = signs_of(input, means_of(input));
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = signs(input.x[i]);
}

void quantize(const QuantizerInput& input, ThreadPool& pool, std::span<float> y) {
  const Means means = means_of(input);
  const auto count = static_cast<std::int64_t>(y.size());
  if (!is_mase(input.format))
    return kernels::residual_signs(pool, means, count, input.x.data(), y.data());
  const scalar::ResidualSigns signs = signs_of(input, means);
  parallel_ranges(pool, count, kernels::kChunkElements, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const auto at = static_cast<std::size_t>(i);
      y[at] = signs(input.x[at]);
    }
  });
}

void backward(const QuantizerInput& input, ThreadPool& pool, std::span<const float> dy,
              std::span<float> dx, std::span<Tensor> state_gradients) {
  const Means means = means_of(input);
  const scalar::ResidualSigns signs = signs_of(input, means);
  const auto count = static_cast<std::int64_t>(dy.size());
  if (is_mase(input.format)) {
    parallel_ranges(pool, count, kernels::kChunkElements,
                    [&](std::int64_t begin, std::int64_t end) {
                      for (std::int64_t i = begin; i < end; ++i) {
                        const auto at = static_cast<std::size_t>(i);
                        dx[at] = dy[at] * signs.old_slope(input.x[at]);
                      }
                    });
    return;
  }
  const double pace = gradient_scale(count, 1);
  // This must precede the write to dx, which may share memory with dy.
  for (int l = 0; learned(input.format) && l < static_cast<int>(means.size()); ++l) {
    state_gradients[0].values<float>()[static_cast<std::size_t>(l)] = static_cast<float>(
        pace * kernels::residual_sign_gradient(pool, means, l, count, input.x.data(), dy.data()));
  }
  kernels::clip_gradient(pool, signs.gradient_bound(), count, input.x.data(), dy.data(), dx.data());
}

// Each mean is that of the residual left by the means before it.
std::vector<Tensor> calibrate(const Format& format, const Observation& seen) {
  const Observation::Summary summary = seen.summary();
  std::vector<double> residuals;
  for (const float value : summary.values) residuals.push_back(std::fabs(value));
  double total = 0;
  for (const double weight : summary.weights) total += weight;
  Means means;
  for (std::int64_t l = 0; l < format["levels"]; ++l) {
    double sum = 0;
    for (std::size_t i = 0; i < residuals.size(); ++i) sum += summary.weights[i] * residuals[i];
    const double mean = total == 0 ? 0 : sum / total;
    means.push_back(static_cast<float>(mean));
    for (double& residual : residuals) residual = std::fabs(residual - mean);
  }
  return {Tensor::of<float>({format["levels"]}, means)};
}

// Encodes the signs of all levels, the first level in the highest bit, 1 for minus.
Codes encode(const QuantizerInput& input) {
  const Means means = means_of(input);
  const bool has_zero = !is_mase(input.format);
  Codes codes;
  codes.elements.reserve(input.x.size());
  for (const float x : input.x) {
    float residual = x;
    std::uint32_t code = 0;
    for (const float mean : means) {
      check_has_code(input.format, !std::isnan(x) && (has_zero || residual != 0), x);
      const float sign = residual < 0 ? -1.0f : 1.0f;
      code = code << 1 | (sign < 0 ? 1u : 0u);
      residual -= sign * mean;
    }
    codes.elements.push_back(code);
  }
  return codes;
}

void decode(const QuantizerInput& input, const Codes& codes, std::span<float> y) {
  const Means means = means_of(input);
  for (std::size_t i = 0; i < y.size(); ++i) {
    y[i] = 0;
    for (std::size_t l = 0; l < means.size(); ++l) {
      const bool minus = (codes.elements[i] >> (means.size() - 1 - l) & 1) == 1;
      y[i] += minus ? -means[l] : means[l];
    }
  }
}

}  // namespace

FormatDef binary_residual_sign_format() {
  return {
      .name = "binary_residual_sign",
      .summary = "sums and differences of a few means, for activations",
      .source = "Ghasemzadeh et al., ReBNet, FCCM 2018",
      .parameters =
          {{"levels", "signs per value", 1, kernels::kMaxSignLevels, 2},
           {"scale", "means from calibration, or trained", 0, 0, 0, {"static", "learned"}},
           mode_parameter()},
      .complete = complete,
      .layout = [](const Format& format,
                   const Sizes&) { return CodeLayout{static_cast<int>(format["levels"])}; },
      .fields =
          [](const Format& format) {
            return std::vector<CodeField>(static_cast<std::size_t>(format["levels"]), {"sign", 1});
          },
      .state =
          [](const Format& format) {
            if (is_mase(format)) return std::vector<FormatStateDef>{};
            return std::vector<FormatStateDef>{
                {"means", "magnitude of each level", {format["levels"]}, false, learned(format)}};
          },
      .calibrate = calibrate,
      .quantize_reference = quantize_reference,
      .quantize = quantize,
      .locality = independent_elements,
      .gradient_rule = [](const Format&) { return GradientRule::own; },
      .backward = backward,
      .encode = encode,
      .decode = decode};
}

}  // namespace hone
