#pragma once
// A packed matrix (docs/reference/model-folder.md) as kernels read it: element codes in panels or rows, and the data to
// decode them (`CodeUnits`). The host's compiler and NVRTC both compile this header.
#include <cmath>
#include <cstdint>

#include "hone/kernels/scalar/half.h"

namespace hone::cuda {

/// The source of a group's scale.
enum class ScaleSource : std::int32_t {
  constant,   ///< it is 1
  shared,     ///< shared codes
  symmetric,  ///< a state tensor, as `learned_grid` reads it
  affine,     ///< two state tensors, the second with zero points
  fraction,   ///< a state tensor: 2^-f, f within bounds
};

struct PackedWeight {
  const std::uint8_t* codes;
  const std::uint8_t* shared;
  const float* scale_state;
  const float* zero_state;
  std::int64_t rows, columns;
  std::int64_t padded_columns;  ///< in panels
  std::int64_t row_bytes;       ///< in rows
  std::int64_t group;  ///< columns that share a scale: the whole row if all share one
  std::int64_t
      row_groups;  ///< groups per row; 0: one scale for all
  std::int64_t scale_blocks;  ///< blocks of shared codes in panels; 0: these are stored by rows
  std::int64_t row_shared;    ///< shared codes per row
  std::int32_t panels;        ///< 1: panels, 0: rows
  std::int32_t flip;          ///< XORed with stored codes
  std::int32_t shared_bytes;  ///< of a shared code
  ScaleSource source;
  std::int32_t zero_points;  ///< shared codes come in pairs with zero points, or have these in their upper bits
  std::int32_t half_scales;  ///< shared codes are float16, with zero points in the bits above
  std::int32_t divides;
  float lowest, highest;  ///< of fractions; the highest symmetric or affine code
};

/// The values of codes, and of shared codes of up to 8 bits. NaN after the last.
struct PackedTables {
  float units[256];
  float scales[256];
};

inline float float_of_bits(std::uint32_t bits) {
#ifdef __CUDACC_RTC__
  return __uint_as_float(bits);
#else
  return __builtin_bit_cast(float, bits);
#endif
}
inline std::uint32_t bits_of_float(float value) {
#ifdef __CUDACC_RTC__
  return __float_as_uint(value);
#else
  return __builtin_bit_cast(std::uint32_t, value);
#endif
}

/// The same as `kernels::usable_scale`.
inline float usable(float scale, float bound) {
  const float least = float_of_bits(0x00800000u);
  const float most = float_of_bits(bits_of_float(float_of_bits(0x7f7fffffu) / bound) - 1);
  return scale < least ? least : most < scale ? most : scale;
}

inline float between(float x, float lowest, float highest) {
  return x < lowest ? lowest : highest < x ? highest : x;
}

inline std::uint32_t shared_code(const PackedWeight& w, std::int64_t row, std::int64_t index) {
  const bool panels = w.scale_blocks > 0;
  const std::uint8_t* at =
      w.shared + (panels ? 32 * w.shared_bytes * (row / 32 * w.scale_blocks + index) + row % 32
                         : (row * w.row_shared + index) * w.shared_bytes);
  const std::int32_t apart = panels ? 32 : 1;
  std::uint32_t code = 0;
  for (std::int32_t byte = 0; byte < w.shared_bytes; ++byte)
    code |= static_cast<std::uint32_t>(at[byte * apart]) << (8 * byte);
  return code;
}

inline float zero_point(const PackedWeight& w, std::int64_t row, std::int64_t block) {
  return between(rintf(w.zero_state[row * w.row_groups + block]), 0.0f, w.highest);
}

#ifdef __CUDACC_RTC__
#define HONE_APART \
  __noinline__  // not inlined: long, and rarely what takes the time
#else
#define HONE_APART inline
#endif

/// Returns the scale of a block of a row. `scales` are those of `PackedTables`.
HONE_APART float scale_of(const PackedWeight& w, const float* scales, std::int64_t row,
                          std::int64_t block) {
  if (w.source == ScaleSource::constant) return 1.0f;
  if (w.source == ScaleSource::shared) {
    if (w.half_scales != 0) return scalar::half_value(shared_code(w, row, block) & 0xffffu);
    const std::uint32_t code = shared_code(w, row, w.zero_points != 0 ? 2 * block : block);
    return w.shared_bytes == 4 ? float_of_bits(code) : scales[code & 255u];
  }
  const float state = w.scale_state[row * w.row_groups + block];
  if (w.source == ScaleSource::fraction)
    return ldexpf(1.0f, -static_cast<int>(between(state, w.lowest, w.highest)));
  if (w.source == ScaleSource::symmetric) return usable(fabsf(state), w.highest);
  const float zero = zero_point(w, row, block);
  return usable(state, fmaxf(zero, w.highest - zero));
}

/// Returns what is added to the units of a block of a row.
HONE_APART float offset_of(const PackedWeight& w, std::int64_t row, std::int64_t block) {
  if (w.zero_points != 0 && w.half_scales != 0)
    return -fminf(static_cast<float>(shared_code(w, row, block) >> 16), w.highest);
  if (w.zero_points != 0)
    return -between(rintf(float_of_bits(shared_code(w, row, 2 * block + 1))), 0.0f, w.highest);
  return w.source == ScaleSource::affine ? -zero_point(w, row, block) : 0.0f;
}

/// The stored codes of four adjacent columns of a row, the first a multiple of four. Codes of up to 8 bits are bytes of
/// the first word, codes of 16 bits are halves of both.
struct Quad {
  std::uint32_t words[2];
};

template <int kBits>
inline std::uint32_t quad_code(const Quad& quad, int at) {
  if constexpr (kBits == 16)
    return quad.words[at / 2] >> (at % 2 * 16) & 0xffffu;
  else
    return quad.words[0] >> (8 * at) & 255u;
}

inline std::uint32_t word_at(const std::uint8_t* from) {
  return *reinterpret_cast<const std::uint32_t*>(from);
}

/// Returns quad `number` of a row in panels, whose words are aligned to four bytes.
template <int kBits>
inline Quad panel_quad(const PackedWeight& w, std::int64_t row, std::int64_t number) {
  const std::uint8_t* plane = w.codes + row / 32 * (4 * w.padded_columns * kBits) + row % 32 * 4;
  Quad quad = {{0, 0}};
  if constexpr (kBits == 16) {
    quad.words[0] = word_at(plane + 2 * number * 128);
    if (4 * number + 2 < w.padded_columns) quad.words[1] = word_at(plane + (2 * number + 1) * 128);
  } else {
    for (int width = 8; width >= 1; width /= 2) {
      if ((kBits & width) == 0) continue;
      const int parts = 8 / width;
      const std::uint32_t mask = ((1u << width) - 1) * 0x01010101u;
      const std::uint32_t word = word_at(plane + number / parts * 128);
      quad.words[0] |= (word >> (static_cast<int>(number % parts) * width) & mask)
                       << (kBits & (width - 1));
      plane += 4 * w.padded_columns * width;
    }
  }
  return quad;
}

/// The same for a matrix stored by rows, read byte by byte, since rows may begin anywhere.
template <int kBits>
inline Quad row_quad(const PackedWeight& w, std::int64_t row, std::int64_t number) {
  const std::uint8_t* plane = w.codes + row * w.row_bytes;
  Quad quad = {{0, 0}};
  const std::int64_t first = 4 * number;
  const int count = w.columns - first < 4 ? static_cast<int>(w.columns - first) : 4;
  if constexpr (kBits == 16) {
    for (int i = 0; i < count; ++i) {
      const std::uint8_t* at = plane + 2 * (first + i);
      quad.words[i / 2] |= (at[0] | static_cast<std::uint32_t>(at[1]) << 8) << (i % 2 * 16);
    }
  } else {
    for (int width = 8; width >= 1; width /= 2) {
      if ((kBits & width) == 0) continue;
      for (int i = 0; i < count; ++i) {
        const std::int64_t bit = (first + i) * width;
        const std::uint32_t part =
            static_cast<std::uint32_t>(plane[bit / 8]) >> (bit % 8) & ((1u << width) - 1);
        quad.words[0] |= part << (kBits & (width - 1)) << (8 * i);
      }
      plane += (w.columns * width + 7) / 8;
    }
  }
  return quad;
}

}  // namespace hone::cuda
