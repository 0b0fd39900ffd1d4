// Rounds values to rows of bytes, and decodes packed weights to bytes. Products of such rows are in byte_product.cu.
//
// Each value is read once. A row with one scale stays in the registers of a warp (up to 1,024 columns) or of a block of 256 threads
// (up to 8,192) while its largest magnitude is found; only wider rows are read again. Blocks with a scale of their own are rounded one
// by one. So the kernels move 5 bytes per fp32 value, or 3 per bf16 value, and memory bandwidth is their limit.
//
// VALUE: the type of the values; THREADS: of a row, 32 or 256; BITS: of a packed code.
#include "hone/kernels/scalar/block.h"
#include "coded_rows.cuh"
#include "groups.cuh"
#include "packed_weight.cuh"
#include "row_codes.cuh"

using namespace hone;
using namespace hone::cuda;

#ifndef THREADS
#define THREADS 32
#endif
#ifndef BITS
#define BITS 8
#endif

constexpr unsigned kWarp = 0xffffffff;
constexpr std::int32_t kSumOrigin = 0x4b400000;  // the bits of 1.5 · 2^23
constexpr std::int64_t kKept = 8;                // packs of four values that a thread keeps

using Four = Pack<VALUE, 4>;

struct LargerBits {
  unsigned operator()(unsigned a, unsigned b) const { return max(a, b); }
};
inline unsigned largest_of_row(unsigned own) {
#if THREADS == 32
  return __reduce_max_sync(kWarp, own);
#else
  return joined_in_block(own, LargerBits(), 0u);
#endif
}

// Returns four columns from `column` on, zeros beyond the last.
template <bool kWhole>
inline Four four_of(const VALUE* row, std::int64_t column, std::int64_t columns) {
  Four four;
  if constexpr (kWhole) {
    four = *reinterpret_cast<const Four*>(row + column);
  } else {
#pragma unroll
    for (int i = 0; i < 4; ++i) four.at[i] = column + i < columns ? row[column + i] : from_float<VALUE>(0.0f);
  }
  return four;
}

// Calls body(column, four values) for the share of a thread.
template <bool kWhole, typename Body>
inline void for_fours(const VALUE* from, std::int64_t columns, const Four (&kept)[kKept], Body&& body) {
  constexpr std::int64_t kStep = 4 * THREADS;
  const std::int64_t first = 4 * threadIdx.x;
#pragma unroll
  for (int i = 0; i < kKept; ++i)
    if (first + i * kStep < columns) body(first + i * kStep, kept[i]);
  for (std::int64_t column = first + kKept * kStep; column < columns; column += kStep)
    body(column, four_of<kWhole>(from, column, columns));
}

template <bool kWhole>
inline void encode_row(const CodedRows& to, const CodeGrid& grid, const VALUE* from, std::int64_t row) {
  constexpr std::int64_t kStep = 4 * THREADS;
  const std::int64_t first = 4 * threadIdx.x;
  Four kept[kKept];
#pragma unroll
  for (int i = 0; i < kKept; ++i)
    if (first + i * kStep < to.columns) kept[i] = four_of<kWhole>(from, first + i * kStep, to.columns);
  Magnitudes seen;
  for_fours<kWhole>(from, to.columns, kept, [&](std::int64_t, const Four& four) {
#pragma unroll
    for (int i = 0; i < 4; ++i) seen.take(to_float(four.at[i]));
  });
  seen = magnitudes_of_row(seen, largest_of_row);
  const float scale = scale_for(grid, seen);
  const scalar::ScaledGrid rule = {scale, -grid.bound, grid.bound};
  std::int8_t* const codes = to.codes + row * to.stride;
  for_fours<kWhole>(from, to.columns, kept, [&](std::int64_t column, const Four& four) {
    std::uint32_t word = 0;
#pragma unroll
    for (int i = 0; i < 4; ++i)
      word |= (std::uint32_t(code_of(rule, to_float(four.at[i]))) & 255u) << (8 * i);
    *reinterpret_cast<std::uint32_t*>(codes + column) = word;
  });
  const std::int64_t behind = (to.columns + 3) / 4 * 4;
  for (std::int64_t column = behind + first; column < to.stride; column += kStep)
    *reinterpret_cast<std::uint32_t*>(codes + column) = 0;
  if (threadIdx.x == 0) to.scales[row] = seen.has_nan() ? scalar::not_a_number() : scale;
}

// Block dimensions are (THREADS, 256 / THREADS).
extern "C" __global__ void encode_rows(const __grid_constant__ CodedRows to, const __grid_constant__ CodeGrid grid,
                                       const VALUE* x) {
  const std::int64_t row = Warp::group();
  if (row >= to.rows) return;
  const bool whole = to.columns % 4 == 0 && reinterpret_cast<std::size_t>(x) % sizeof(Four) == 0;
  const VALUE* const from = x + row * to.columns;
  if (whole)
    encode_row<true>(to, grid, from, row);
  else
    encode_row<false>(to, grid, from, row);
}

// ---- blocks

constexpr int kNoExponent = -1000;  // of a block of zeros
constexpr int kLowestFall = -120;

// Rounds kTogether blocks of up to 32 kEach columns, loading the values of all of them at once. Returns the largest
// exponent; a block that contains NaN or an infinity clears `numbers`.
template <int kEach, int kTogether>
inline int encode_some_blocks(const CodedRows& to, const CodeBlocks& rule, const VALUE* from, std::int64_t row,
                              std::int64_t first, bool& numbers) {
  const int lane = threadIdx.x;
  float values[kTogether][kEach];
#pragma unroll
  for (int b = 0; b < kTogether; ++b)
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      const std::int64_t of_block = lane + 32 * i, column = (first + b) * to.block + of_block;
      values[b][i] = of_block < to.block && column < to.columns ? to_float(from[column]) : 0.0f;
    }
  int highest = kNoExponent;
#pragma unroll
  for (int b = 0; b < kTogether; ++b) {
    if (first + b >= to.blocks) break;
    unsigned largest = 0;
#pragma unroll
    for (int i = 0; i < kEach; ++i) largest = max(largest, scalar::magnitude_bits(values[b][i]));
    largest = __reduce_max_sync(kWarp, largest);
    numbers = numbers && largest < scalar::kInfinityBits;
    const bool zero = largest == 0 || largest >= scalar::kInfinityBits;
    const int exponent = zero ? kNoExponent : scalar::BlockScale{0, -127, 127, rule.next_from}.exponent(largest);
    highest = max(highest, exponent);
    // Two factors, since a single one would overflow for blocks of small values.
    const int power = zero ? 0 : rule.fraction - exponent;
    const float once = scalar::float_power(power / 2), again = scalar::float_power(power - power / 2);
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      const std::int64_t of_block = lane + 32 * i, column = (first + b) * to.block + of_block;
      if (of_block >= to.block || column >= to.columns) continue;
      const float whole = scalar::clamped(std::nearbyint(values[b][i] * once * again), -rule.bound, rule.bound);
      to.codes[row * to.stride + column] = zero ? std::int8_t(0) : std::int8_t(whole);
    }
    if (lane == 0) to.origins[(first + b) * to.rows + row] = exponent;
  }
  return highest;
}

template <int kEach, int kTogether>
inline void encode_row_in_blocks(const CodedRows& to, const CodeBlocks& rule, const VALUE* from, std::int64_t row) {
  const int lane = threadIdx.x;
  int highest = kNoExponent;
  bool numbers = true;
  for (std::int64_t first = 0; first < to.blocks; first += kTogether)
    highest = max(highest, encode_some_blocks<kEach, kTogether>(to, rule, from, row, first, numbers));
  std::int8_t* const codes = to.codes + row * to.stride;
  for (std::int64_t column = to.columns + lane; column < to.stride; column += 32) codes[column] = 0;
  __syncwarp();
  for (std::int64_t block = lane; block < to.blocks; block += 32) {
    std::int32_t& origin = to.origins[block * to.rows + row];
    const int fall = origin - highest;  // blocks of zeros are below kLowestFall, too
    if (origin != kNoExponent && fall < kLowestFall)
      for (std::int64_t column = block * to.block; column < min((block + 1) * to.block, to.columns); ++column)
        codes[column] = 0;
    origin = fall < kLowestFall ? kSumOrigin : kSumOrigin + fall * (1 << 23);
  }
  if (lane != 0) return;
  const float scale = scalar::float_power((highest == kNoExponent ? 0 : highest) - rule.fraction);
  to.scales[row] = numbers ? scale : scalar::not_a_number();
}

// One warp per row; block dimensions are (32, warps).
extern "C" __global__ void encode_blocks(const __grid_constant__ CodedRows to,
                                         const __grid_constant__ CodeBlocks rule, const VALUE* x) {
  const std::int64_t row = Warp::group();
  if (row >= to.rows) return;
  const VALUE* const from = x + row * to.columns;
  if (to.block <= 32)
    encode_row_in_blocks<1, 8>(to, rule, from, row);
  else if (to.block <= 64)
    encode_row_in_blocks<2, 4>(to, rule, from, row);
  else
    encode_row_in_blocks<8, 1>(to, rule, from, row);
}

// ---- weights

// One warp per row of a weight in panels. Zero points are subtracted from the codes. `blocks`: scales per row; 0: one
// scale, multiplied by the unit.
extern "C" __global__ void weight_bytes(const __grid_constant__ PackedWeight w, const __grid_constant__ PackedTables tables,
                                        const __grid_constant__ WholeNumbers numbers,
                                        const __grid_constant__ ByteMatrix to, std::int64_t blocks) {
  __shared__ std::int8_t of[256];
  for (int i = threadIdx.x + 32 * threadIdx.y; i < 256; i += 32 * blockDim.y) of[i] = numbers.of[i];
  __syncthreads();
  const std::int64_t row = Warp::group();
  if (row >= w.rows) return;
  const int lane = threadIdx.x;
  for (std::int64_t number = lane; number < to.stride / 4; number += 32) {
    std::uint32_t four = 0;
    if (4 * number < w.columns) {
      const Quad quad = panel_quad<BITS>(w, row, number);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const std::int64_t column = 4 * number + i;
        if (column >= w.columns) continue;
        int code = of[quad_code<BITS>(quad, i)];
        if (w.zero_points != 0) code += int(offset_of(w, row, column / w.group));
        four |= (std::uint32_t(code) & 255u) << (8 * i);
      }
    }
    *reinterpret_cast<std::uint32_t*>(to.bytes + row * to.stride + 4 * number) = four;
  }
  if (blocks == 0 && lane == 0) to.scales[row] = scale_of(w, nullptr, row, 0) * to.unit;
  for (std::int64_t block = lane; block < blocks; block += 32)
    to.scales[block * w.rows + row] = scale_of(w, tables.scales, row, block);
}
