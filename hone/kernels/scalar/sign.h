#pragma once

#include "hone/kernels/scalar/bits.h"

/// Rounding to signs times constants.
namespace hone::scalar {

/// Rounding to two values. `fixed`: low if x < 0, NaN stays; `at_zero`: high if x >= 0; `above_zero`: high if x > 0.
struct TwoValues {
  enum class Rule { fixed, at_zero, above_zero };
  float low = -1;
  float high = 1;
  Rule rule = Rule::fixed;

  /// Returns whether x becomes `low`.
  bool is_low(float x) const {
    return rule == Rule::fixed ? x < 0 : rule == Rule::at_zero ? !(x >= 0) : !(x > 0);
  }
  float operator()(float x) const {
    if (rule == Rule::fixed && is_nan(x)) return x;
    return is_low(x) ? low : high;
  }
  /// Returns the values -alpha and alpha, or 0 and alpha.
  TwoValues scaled(float alpha) const {
    return {rule == Rule::above_zero ? alpha * 0 : -alpha, alpha, rule};
  }
};

/// The format binary_residual_sign. With `old`, the sign of 0 and NaN is 0.
struct ResidualSigns {
  static constexpr int kMaxLevels = 4;
  int levels = 0;
  bool old = false;
  float means[kMaxLevels] = {};

  float sign_of(float residual) const {
    if (residual < 0) return -1.0f;
    return !old || residual > 0 ? 1.0f : 0.0f;
  }
  float operator()(float x) const {
    if (!old && is_nan(x)) return x;
    float sum = 0, residual = x;
    for (int l = 0; l < kMaxLevels; ++l) {
      if (l >= levels) break;
      const float step = sign_of(residual) * means[l];
      sum += step;
      residual -= step;
    }
    return sum;
  }
  /// Returns the factor of the gradient with `old`.
  float old_slope(float x) const {
    float rest = 1, residual = x;
    for (int l = 0; l < kMaxLevels; ++l) {
      if (l >= levels) break;
      if (std::fabs(residual) <= 1) rest *= 1 - means[l];
      residual -= sign_of(residual) * means[l];
    }
    return 1 - rest;
  }
  /// Returns the largest |x| for which gradients pass.
  float gradient_bound() const {
    float bound = 0;
    for (int l = 0; l < kMaxLevels; ++l) bound += l < levels ? std::fabs(means[l]) : 0.0f;
    return larger(1.0f, bound);
  }
};

/// Returns the old format, whose means depend only on their number.
inline ResidualSigns old_residual_signs(int levels) {
  ResidualSigns signs{levels, true, {}};
  for (int l = 0; l < levels; ++l)
    signs.means[l] = static_cast<float>((levels - l) / (levels * (levels + 1) / 2.0));
  return signs;
}

constexpr double kTernaryThreshold = 0.75;  // of the mean magnitude: nearly optimal for Gaussians

/// y = alpha sign(x) where |x| > threshold. NaN stays NaN unless `old`.
struct Ternary {
  float threshold = 0;
  float alpha = 0;
  bool old = false;

  float operator()(float x) const {
    if (!old && is_nan(x)) return x;
    if (!(std::fabs(x) > threshold)) return 0 * alpha;
    return x < 0 ? -alpha : alpha;
  }
};

/// Returns the largest float not above `value`, which is not negative. A float |x| is above both or neither.
inline float float_below(double value) {
  const float rounded = static_cast<float>(value);
  return rounded > value ? float_of(bits_of(rounded) - 1) : rounded;
}

}  // namespace hone::scalar
