// Converts MXINT to values and back (hone/kernels/mxint_element.h), limited by memory bandwidth. A thread writes pieces
// of 16 bytes of values, so that a warp writes whole lines, and has several pieces in flight.
//
// VALUE: the type of decoded values, float or bfloat16; BITS: of a code, 8 or 4; MASE: 1 for the dialect of mase-cuda,
// 0 for that of OCP; RUNS: 1 if each piece is within one group, whose size is a power of two.
#include "numbers.cuh"

#ifndef BITS
#define BITS 8
#endif
#ifndef MASE
#define MASE 0
#endif
#ifndef RUNS
#define RUNS 1
#endif

constexpr int kElements = 16 / sizeof(VALUE);  // of a piece
constexpr int kPieces = 4;                     // of a thread, a block's width apart
constexpr int kCodeWords = kElements / 4;      // words that hold the codes of a piece as bytes

struct Codes {
  std::uint32_t words[kCodeWords];
};

// Codes are read once, so they bypass the L1 cache.
inline std::uint32_t streamed_word(const std::uint8_t* from) {
  std::uint32_t word;
  asm volatile("ld.global.nc.L1::no_allocate.u32 %0, [%1];" : "=r"(word) : "l"(from));
  return word;
}
inline std::uint32_t streamed_half(const std::uint8_t* from) {
  std::uint16_t half;
  asm volatile("ld.global.nc.L1::no_allocate.u16 %0, [%1];" : "=h"(half) : "l"(from));
  return half;
}

// Widens codes of four bits to the upper halves of bytes. With the same scale these are the same elements, including
// the unit bit and the lowest code.
inline Codes widened(std::uint32_t codes) {
  const std::uint32_t even = codes << 4 & 0xf0f0f0f0u, odd = codes & 0xf0f0f0f0u;
  Codes wide;
  wide.words[0] = __byte_perm(even, odd, 0x5140);
  if constexpr (kCodeWords == 2) wide.words[1] = __byte_perm(even, odd, 0x7362);
  return wide;
}

// Returns the codes of the piece from element `i` on, as bytes.
inline Codes codes_from(const std::uint8_t* codes, std::int64_t i) {
  if constexpr (BITS == 4)
    return widened(kElements == 8 ? streamed_word(codes + i / 2) : streamed_half(codes + i / 2));
  Codes read;
  if constexpr (kElements == 8) {
    asm volatile("ld.global.nc.L1::no_allocate.v2.u32 {%0, %1}, [%2];"
                 : "=r"(read.words[0]), "=r"(read.words[kCodeWords - 1])
                 : "l"(codes + i));
  } else {
    read.words[0] = streamed_word(codes + i);
  }
  return read;
}

inline std::uint32_t code_at(const std::uint8_t* codes, std::int64_t i) {
  if constexpr (BITS == 4) return (codes[i / 2] >> (i % 2 * 4) & 15u) << 4;
  return codes[i];
}

// Returns 2^(scale - 133), subnormal for scales below 7. 255 is not a scale.
inline float power_of(std::uint32_t scale) {
  return __uint_as_float(scale >= 7 ? (scale - 6) << 23 : 1u << (scale + 16));
}

// Returns whether some elements with this scale are not products of code and power.
inline bool is_edge(std::uint32_t scale) { return scale == 255 || (MASE && scale == 0); }

inline float edge_value(std::uint32_t code, std::uint32_t scale) {
  const int mantissa = static_cast<signed char>(code),
            magnitude = mantissa < 0 ? -mantissa : mantissa;
  if (MASE && (magnitude & 0x40) != 0) {
    const std::uint32_t sign = mantissa < 0 ? 0x80000000u : 0u;
    return __uint_as_float(sign | scale << 23 | std::uint32_t(magnitude & 0x3f) << 17);
  }
  if (scale == 255) return __uint_as_float(0x7fc00000u);
  return float(mantissa == -128 ? 0 : mantissa) * power_of(1);
}

// Returns the code in byte `at` of a word times the power of its scale. In the last bits of 2^23, its offset binary is
// a float without a conversion.
inline float product(std::uint32_t word, int at, float power) {
  const std::uint32_t offset_binary = word ^ 0x80808080u;
  float whole = __uint_as_float(__byte_perm(offset_binary, 0x4b000000u, 0x7440 + at)) - 8388736.0f;
  if (MASE && whole == -128.0f) whole = 0;  // it has neither unit nor fraction
  return whole * power;
}

inline float value_of(std::uint32_t word, int at, std::uint32_t scale) {
  if (is_edge(scale)) return edge_value(word >> (8 * at) & 255u, scale);
  return product(word, at, power_of(scale));
}

// Values that bfloat16 can represent have zeros in the lower half of a float.
inline void put(float value, float* y) { *y = value; }
inline void put(float value, bfloat16* y) { y->bits = std::uint16_t(__float_as_uint(value) >> 16); }

inline void put_piece(const float (&values)[kElements], VALUE* y) {
  std::uint32_t words[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    if constexpr (kElements == 8)
      words[i] =
          __byte_perm(__float_as_uint(values[2 * i]), __float_as_uint(values[2 * i + 1]), 0x7632);
    else
      words[i] = __float_as_uint(values[i]);
  }
  __stcs(reinterpret_cast<uint4*>(y), make_uint4(words[0], words[1], words[2], words[3]));
}

// Decodes a piece with one scale.
inline void decode_run(const Codes& codes, std::uint32_t scale, VALUE* y) {
  float values[kElements];
  if (is_edge(scale)) {
#pragma unroll
    for (int i = 0; i < kElements; ++i)
      values[i] = edge_value(codes.words[i / 4] >> (i % 4 * 8) & 255u, scale);
  } else {
    const float power = power_of(scale);
#pragma unroll
    for (int i = 0; i < kElements; ++i) values[i] = product(codes.words[i / 4], i % 4, power);
  }
  put_piece(values, y);
}

// Decodes a piece that may span groups.
inline void decode_any(const Codes& codes, std::uint64_t group, const std::uint8_t* scales,
                       std::int64_t first, VALUE* y) {
  std::uint64_t block = std::uint64_t(first) / group,
                left = (block + 1) * group - std::uint64_t(first);
  std::uint32_t scale = scales[block];
  float values[kElements];
#pragma unroll
  for (int i = 0; i < kElements; ++i) {
    if (left == 0) {
      scale = scales[++block];
      left = group;
    }
    --left;
    values[i] = value_of(codes.words[i / 4], i % 4, scale);
  }
  put_piece(values, y);
}

// `group` is the size of a group if RUNS is 0, else its logarithm. Codes and values are aligned to pieces.
extern "C" __global__ void dequantize(std::int64_t count, std::int64_t group,
                                      const std::uint8_t* codes, const std::uint8_t* scales,
                                      VALUE* y) {
  const std::int64_t apart = std::int64_t(blockDim.x) * kElements;
  const std::int64_t begin = blockIdx.x * apart * kPieces + std::int64_t(threadIdx.x) * kElements;
  Codes read[kPieces];
  std::uint32_t scale[kPieces];
#pragma unroll
  for (int piece = 0; piece < kPieces; ++piece) {
    const std::int64_t i = begin + piece * apart;
    if (i + kElements > count) continue;
    read[piece] = codes_from(codes, i);
    if constexpr (RUNS) scale[piece] = scales[i >> group];
  }
#pragma unroll
  for (int piece = 0; piece < kPieces; ++piece) {
    const std::int64_t i = begin + piece * apart;
    if (i + kElements > count) continue;
    if constexpr (RUNS)
      decode_run(read[piece], scale[piece], y + i);
    else
      decode_any(read[piece], group, scales, i, y + i);
  }
}

// Decodes the elements from `begin` on one by one: those after the whole pieces, or all if memory is not aligned to
// pieces.
extern "C" __global__ void dequantize_each(std::int64_t begin, std::int64_t count,
                                           std::int64_t group, const std::uint8_t* codes,
                                           const std::uint8_t* scales, VALUE* y) {
  for (std::int64_t i = begin + thread_number(); i < count; i += all_threads())
    put(value_of(code_at(codes, i), 0, scales[std::uint64_t(i) / std::uint64_t(group)]), y + i);
}

// ---- from values to MXINT

// Returns the magnitude of a value that is encoded. In `mase` it is rounded to bfloat16, with subnormals flushed to
// zero and NaN as infinity.
inline std::uint32_t magnitude_bits(float x) {
  const std::uint32_t bits = __float_as_uint(x) & 0x7fffffffu;
  if (!MASE) return bits;
  if (bits > 0x7f800000u) return 0x7f800000u;
  const std::uint32_t upper = (bits + 0x7fffu + (bits >> 16 & 1u)) & 0xffff0000u;
  return upper < 0x00800000u ? 0u : upper;
}

// Rounds to nearest, ties to even. Scaling up is exact, in two steps if one factor would be too large; values that
// become subnormal by scaling down round to 0 anyway.
inline std::uint32_t code_of(float x, std::uint32_t scale) {
  if (scale == 255) return 0;
  const float magnitude = __uint_as_float(magnitude_bits(x));
  const float steps = scale >= 7 ? magnitude * __uint_as_float((260 - scale) << 23)
                                 : magnitude * 0x1p100f * __uint_as_float((160 - scale) << 23);
  const int code = int(fminf(rintf(steps), 127.0f));
  return std::uint32_t(x < 0 ? -code : code) & 255u;
}

inline std::uint32_t scale_of(std::uint32_t largest) { return min(largest >> 23, 255u); }

// Groups of 4 2^k elements, up to 128, each computed by 2^k adjacent threads with four elements each. x is aligned to
// 16 bytes and codes to 4, and `count` is a multiple of 4. Lanes beyond the end hold zeros.
extern "C" __global__ void quantize_runs(std::int64_t count, int threads, const float* x,
                                         std::uint8_t* codes, std::uint8_t* scales) {
  const std::int64_t i = thread_number() * 4;
  const bool exists = i < count;
  const float4 four =
      exists ? __ldcs(reinterpret_cast<const float4*>(x + i)) : make_float4(0, 0, 0, 0);
  std::uint32_t largest = max(max(magnitude_bits(four.x), magnitude_bits(four.y)),
                              max(magnitude_bits(four.z), magnitude_bits(four.w)));
  for (int apart = 1; apart < threads; apart *= 2)
    largest = max(largest, __shfl_xor_sync(0xffffffffu, largest, apart));
  if (!exists) return;
  const std::uint32_t scale = scale_of(largest);
  __stcs(reinterpret_cast<std::uint32_t*>(codes + i),
         code_of(four.x, scale) | code_of(four.y, scale) << 8 | code_of(four.z, scale) << 16 |
             code_of(four.w, scale) << 24);
  if (threadIdx.x % threads == 0) scales[i / (4 * threads)] = std::uint8_t(scale);
}

// Groups of any size, each computed by a warp.
extern "C" __global__ void quantize_groups(std::int64_t count, std::int64_t group, const float* x,
                                           std::uint8_t* codes, std::uint8_t* scales) {
  const int lane = threadIdx.x % 32;
  const std::int64_t groups = (count - 1) / group + 1;
  for (std::int64_t g = thread_number() / 32; g < groups; g += all_threads() / 32) {
    const std::int64_t first = g * group, end = group < count - first ? first + group : count;
    std::uint32_t largest = 0;
    for (std::int64_t i = first + lane; i < end; i += 32)
      largest = max(largest, magnitude_bits(x[i]));
    largest = __reduce_max_sync(0xffffffffu, largest);
    const std::uint32_t scale = scale_of(largest);
    for (std::int64_t i = first + lane; i < end; i += 32)
      codes[i] = std::uint8_t(code_of(x[i], scale));
    if (lane == 0) scales[g] = std::uint8_t(scale);
  }
}
