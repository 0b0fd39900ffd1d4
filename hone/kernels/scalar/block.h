#pragma once

#include "hone/kernels/scalar/logarithm.h"
#include "hone/kernels/scalar/minifloat.h"

/// Rounding of blocks whose scale, a power of two, depends on their largest magnitude.
namespace hone::scalar {

/// The positions of the blocks of a tensor, like `BlockLayout`: matrices of rows and columns, split into blocks of
/// block_rows x block_columns. The axis of the blocks, with `extent` elements `distance` apart, is moved to the end.
struct BlockPlaces {
  std::int64_t matrices = 1, rows = 1, columns = 1;
  std::int64_t block_rows = 1, block_columns = 1;
  std::int64_t extent = 1, distance = 1;

  std::int64_t across() const { return (columns + block_columns - 1) / block_columns; }
  std::int64_t down() const { return (rows + block_rows - 1) / block_rows; }
  std::int64_t blocks() const { return matrices * down() * across(); }
  /// Returns the offset in the tensor of element `index` of the tensor with that axis last.
  std::int64_t offset(std::int64_t index) const {
    if (distance == 1) return index;
    const std::int64_t line = index / extent;
    const std::int64_t before = line / distance * extent + index % extent;
    return before * distance + line % distance;
  }
};

/// Like `kernels::BlockScale`.
struct BlockScale {
  int offset = 0;
  int lowest = -126;
  int highest = 127;
  std::uint32_t next_from = 1u << 23;

  /// Returns k for the bits of the largest magnitude, which is finite; `lowest` for 0.
  int exponent(std::uint32_t largest) const {
    if (largest == 0) return lowest;
    int field = static_cast<int>(largest >> 23);
    if (field == 0) {  // subnormal: shift its leading one to that of a normal number
      const int above = 22 - binade(static_cast<double>(largest));
      field = -above;
      largest <<= above + 1;
    }
    const int next = (largest & 0x7fffffu) >= next_from ? 1 : 0;
    return clamped(field - 127 + next + offset, lowest, highest);
  }
};

/// The rounding of the values of one block. A block with NaN or an infinity is NaN.
template <typename Elements>
struct BlockRounding {
  Elements elements;
  bool is_nan = false;
  bool one_zero = false;  ///< -0 has no code

  float operator()(float x) const {
    const float y = is_nan ? not_a_number() : elements(x);
    return one_zero && y == 0 ? 0.0f : y;
  }
};

/// Minifloats relative to the scale.
struct MinifloatBlocks {
  BlockScale scale;
  Minifloat elements;
  bool one_zero = false;

  BlockRounding<Minifloat> of(std::uint32_t largest) const {
    if (largest >= kInfinityBits) return {elements, true, false};
    const int k = scale.exponent(largest);
    return {{elements.mantissa_bits, elements.min_exponent + k, elements.highest * power(k)},
            false,
            one_zero};
  }
};

/// Powers of two relative to the scale: 2^-octaves to 2^0 if they are normal floats, and zero.
struct PowerBlocks {
  BlockScale scale;
  int octaves = 0;

  BlockRounding<Powers> of(std::uint32_t largest) const {
    if (largest >= kInfinityBits) return {{}, true, false};
    const int k = scale.exponent(largest);
    return {{larger(k - octaves, -126), k}, false, false};
  }
};

/// The format mxint: integers of `bits` bits whose leading bit has the value of the scale.
inline MinifloatBlocks mxint_blocks(int bits, bool ceil) {
  // A float with bits - 2 mantissa bits has these steps between 1 and 2; min_exponent = 0 keeps them below 1.
  return {{0, -127, 127, ceil ? (1u << 23) - (1u << (25 - bits)) + 1 : 1u << 23},
          {bits - 2, 0, 2 - power(2 - bits)},
          true};
}

/// An element of mxfp.
struct MxfpElement {
  int exponent_bits = 0;
  int mantissa_bits = 0;
  double highest = 0;  ///< in the OCP specification

  int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  int bits() const { return 1 + exponent_bits + mantissa_bits; }
  int highest_exponent() const { return binade(highest); }
  /// Returns the highest exponent if no code is NaN or infinity.
  int highest_exponent_of_all() const { return 1 << (exponent_bits - 1); }
};

inline MinifloatBlocks mxfp_blocks(const MxfpElement& element, bool ceil) {
  const int top = element.highest_exponent();
  const std::uint32_t above = (bits_of(static_cast<float>(element.highest)) & 0x7fffffu) + 1;
  // Above 127 - top, the largest element times the scale overflows float.
  return {{-top, -127, 127 - top, ceil ? above : 1u << 23},
          {element.mantissa_bits, 1 - element.bias(), element.highest},
          false};
}

/// The formats block_fp, whose exponent grows if the largest magnitude would round to 2^m, and mxint_hardware:
/// magnitudes of m bits with an exponent from `lowest` to `highest`.
inline MinifloatBlocks magnitude_blocks(int m, int lowest, int highest, bool grows, bool one_zero) {
  // A float with m - 1 mantissa bits has these steps between 1/2 and 1; min_exponent = -1 keeps them below 1/2.
  return {{1, lowest, highest, grows ? (1u << 23) - (1u << (23 - m)) : 1u << 23},
          {m - 1, -1, 1 - power(-m)},
          one_zero};
}

/// The format block_minifloat: small floats whose highest binade is that of the scale.
inline MinifloatBlocks minifloat_blocks(int exponent_width, int mantissa, int lowest_top,
                                        int highest_top) {
  return {{0, lowest_top, highest_top},
          {mantissa, 2 - (1 << exponent_width), 2 - power(-mantissa)},
          false};
}

/// The format block_log: powers of two, the largest of which is the first not below the largest magnitude.
inline PowerBlocks power_blocks(int exponent_width, int lowest_top, int highest_top) {
  // A magnitude above a power of two makes the next power the largest.
  return {{0, lowest_top, highest_top, 1}, (1 << exponent_width) - 2};
}

}  // namespace hone::scalar
