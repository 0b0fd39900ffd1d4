#pragma once

#include "hone/kernels/scalar/half.h"
#include "hone/kernels/scalar/scaled_integer.h"

/// Formats whose groups of neighbours in a row share a float16 scale: nf4, and int in groups.
namespace hone::scalar {

/// The statistics that determine the rounding of a group.
struct GroupEnds {
  ValueRange range = {};  ///< of the finite values and 0
  float extreme = 0;  ///< the first finite value of the largest magnitude; 0 if no value is finite
};

/// The values of nf4: 16 quantiles of the normal distribution (Dettmers et al., "QLoRA", 2023).
constexpr float kNormalFloats[16] = {-1.0f,
                                     -0.6961928009986877f,
                                     -0.5250730514526367f,
                                     -0.39491748809814453f,
                                     -0.28444138169288635f,
                                     -0.18477343022823334f,
                                     -0.09105003625154495f,
                                     0.0f,
                                     0.07958029955625534f,
                                     0.16093020141124725f,
                                     0.24611230194568634f,
                                     0.33791524171829224f,
                                     0.44070982933044434f,
                                     0.5626170039176941f,
                                     0.7229568362236023f,
                                     1.0f};

struct NormalFloatMiddles {
  float at[15];
};
constexpr NormalFloatMiddles normal_float_middles() {
  NormalFloatMiddles middles{};
  for (int i = 0; i < 15; ++i)
    middles.at[i] =
        static_cast<float>((static_cast<double>(kNormalFloats[i]) + kNormalFloats[i + 1]) / 2);
  return middles;
}
constexpr NormalFloatMiddles kNormalFloatMiddles = normal_float_middles();

/// A group of nf4: its values times a scale.
struct NormalFloatGroup {
  std::uint32_t shared = 0;  ///< the float16 scale
  float scale = 1, inverse = 1;

  /// Returns the code of x; 0 for NaN.
  std::uint32_t code(float x) const {
    std::uint32_t code = 0;
    for (const float middle : kNormalFloatMiddles.at) code += x * inverse > middle ? 1 : 0;
    return code;
  }
  float operator()(float x) const { return x != x ? x : kNormalFloats[code(x)] * scale; }
};

struct NormalFloatGroups {
  NormalFloatGroup of(const GroupEnds& ends) const {
    const std::uint32_t shared = half_scale(larger(-ends.range.lowest, ends.range.highest));
    const float scale = half_value(shared);
    return {shared, scale, 1 / scale};
  }
};

/// A group of int: its grid, and the shared code, with the scale in the lowest 16 bits and the zero point above.
struct IntegerGroup {
  std::uint32_t shared = 0;
  ScaledGrid grid = {};

  float operator()(float x) const { return grid(x); }
};

struct IntegerGroups {
  static constexpr int kScaleBits = 16;
  float levels = 0;  ///< 2^bits - 1
  bool affine = false;

  float half() const { return (levels + 1) / 2; }
  IntegerGroup of_shared(std::uint32_t shared) const {
    const float scale = half_value(shared & 0xffff);
    if (!affine) return {shared, {scale, -half(), half() - 1}};
    const float point = static_cast<float>(shared >> kScaleBits),
                zero = point < levels ? point : levels;
    return {shared, {scale, -zero, levels - zero}};
  }
  IntegerGroup of(const GroupEnds& ends) const {
    if (!affine) return of_shared(half_scale(ends.extreme / -half()));
    // Each term is finite even if the difference of the ends is not. Rounded down, because a larger scale could leave
    // the code of an end unused, and quantizing again would then change values.
    const std::uint32_t scale =
        half_scale_below(ends.range.highest / levels - ends.range.lowest / levels);
    const float zero =
        clamped(std::nearbyint(-ends.range.lowest / half_value(scale)), 0.0f, levels);
    return of_shared(scale | static_cast<std::uint32_t>(zero) << kScaleBits);
  }
};

inline IntegerGroups integer_groups(int bits, bool affine) {
  return {float_power(bits) - 1, affine};
}

}  // namespace hone::scalar
