#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "hone/kernels/block.h"
#include "hone/kernels/logarithm.h"
#include "hone/kernels/minifloat.h"
#include "hone/kernels/scalar/block.h"

/// Scales of blocks, and elements relative to them: the code of block.cpp that is compiled once for all instruction
/// sets.
namespace hone::kernels {

using scalar::kInfinityBits;

/// Returns k of `BlockScale` for the bits of the largest magnitude, positive and finite.
inline int scale_exponent(const BlockScale& scale, std::uint32_t largest) {
  return scalar::BlockScale{scale.offset, scale.lowest, scale.highest, scale.next_from}.exponent(
      largest);
}

/// Minifloats relative to the scale, and the range of scales for which they can be rounded in vectors.
class MinifloatElements {
 public:
  explicit MinifloatElements(const Minifloat& format)
      : format_(format), lowest_exponent_(std::max(-126, -126 - format.min_exponent)) {
    const int highest_binade = std::max(std::ilogb(format.highest), format.min_exponent);
    highest_exponent_ = std::min(127, 104 + format.mantissa_bits - highest_binade);
    if (format.mantissa_bits > 22) highest_exponent_ = lowest_exponent_ - 1;
  }

  /// Returns whether `scaled(exponent)` is `vectorizable`.
  bool fast(int exponent) const {
    return exponent >= lowest_exponent_ && exponent <= highest_exponent_;
  }
  /// Returns the elements times 2^exponent. Requires `fast(exponent)`.
  Minifloat scaled(int exponent) const {
    const auto scale = std::bit_cast<float>(static_cast<std::uint32_t>(exponent + 127) << 23);
    return {format_.mantissa_bits, format_.min_exponent + exponent, format_.highest * scale};
  }
  float round_slowly(int exponent, float x) const {
    return round_scalar({format_.mantissa_bits, format_.min_exponent + exponent,
                         std::ldexp(format_.highest, exponent)},
                        x);
  }

 private:
  Minifloat format_;
  int lowest_exponent_;
  int highest_exponent_;
};

/// Zero and the powers of two from 2^-octaves to 1 relative to the scale, if they are normal floats. All of them can be
/// rounded in vectors.
struct PowerElements {
  int octaves;

  bool fast(int) const { return true; }
  PowerGrid scaled(int exponent) const { return {std::max(exponent - octaves, -126), exponent}; }
  float round_slowly(int exponent, float x) const { return round_to_power(scaled(exponent), x); }
};

/// Neighbouring blocks of several rows that are rounded together.
inline constexpr std::int64_t kTogether = 64;

/// Blocks [begin, end) of a grid.
struct BlockRange {
  std::int64_t begin;
  std::int64_t end;
};

}  // namespace hone::kernels
