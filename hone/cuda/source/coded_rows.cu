// Rows of whole numbers of a byte (hone/kernels/int8_rows.h) and products of them: what rounds values to such rows, what makes
// bytes of packed codes, and what is left to do with sums. BITS: of a packed code; ACTIVATION: the expression of x.
#include "hone/kernels/scalar/activation.h"
#include "hone/kernels/scalar/scaled_integer.h"
#include "coded_rows.cuh"
#include "nest.cuh"
#include "numbers.cuh"
#include "packed_weight.cuh"

using namespace hone;
using namespace hone::cuda;

#ifndef BITS
#define BITS 8
#endif
#ifndef ACTIVATION
#define ACTIVATION x
#endif

constexpr unsigned kAll = 0xffffffff;  // threads of a warp
constexpr std::int32_t kSumOrigin = 0x4b400000;
constexpr std::int64_t kGroup = 6;

inline float scale_in(const CodeGrid& grid) {
  return scalar::usable_scale(std::fabs(*grid.scale), grid.bound);
}

// A row for each warp, whose lanes call this together: put_codes(column, codes) for the four columns from `column` on, of which there
// is one at least.
template <typename PutCodes>
inline void put_row(const CodedRows& to, std::int64_t row, float scale, PutCodes&& put_codes) {
  const int lane = threadIdx.x % 32;
  std::int8_t* const codes = to.codes + row * to.stride;
  std::int32_t sum = 0;
#pragma unroll 2
  for (std::int64_t column = 4 * lane; column < to.stride; column += 4 * 32) {
    int four[4] = {0, 0, 0, 0};
    if (column < to.columns) put_codes(column, four);
    std::uint32_t word = 0;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      sum += four[i];
      word |= (std::uint32_t(four[i]) & 255u) << (8 * i);
    }
    *reinterpret_cast<std::uint32_t*>(codes + column) = word;
  }
  sum = __reduce_add_sync(kAll, sum);
  if (lane != 0) return;
  to.scales[row] = scale;
  const std::int64_t first = row / kGroup * kGroup, group = min(kGroup, to.rows - first);
  std::int32_t* const start = to.starts + 2 * first + row - first;
  start[0] = std::int32_t(std::uint32_t(kSumOrigin) - 128u * std::uint32_t(sum));
  start[group] = kSumOrigin;
}

// Columns from `column` on, zeros behind the last.
template <bool kWhole>
inline float4 four_of(const float* row, std::int64_t column, std::int64_t columns) {
  if constexpr (kWhole) return *reinterpret_cast<const float4*>(row + column);
  const std::int64_t left = columns - column;
  return make_float4(row[column], left > 1 ? row[column + 1] : 0.0f,
                     left > 2 ? row[column + 2] : 0.0f, left > 3 ? row[column + 3] : 0.0f);
}

// What has no number has the code 0: the scale of its row says that there is one.
inline int code_of(const scalar::ScaledGrid& grid, float value) {
  const float whole = grid.whole(value);
  return whole == whole ? int(whole) : 0;
}

struct Magnitudes {
  unsigned finite = 0, largest = 0;

  void take(float value) {
    const unsigned magnitude = scalar::magnitude_bits(value);
    largest = max(largest, magnitude);
    if (magnitude < scalar::kInfinityBits) finite = max(finite, magnitude);
  }
};

template <bool kWhole>
inline void encode_row(const CodedRows& to, const CodeGrid& grid, const float* from, std::int64_t row) {
  Magnitudes seen;
#pragma unroll 4
  for (std::int64_t column = 4 * (threadIdx.x % 32); column < to.columns; column += 4 * 32) {
    const float4 four = four_of<kWhole>(from, column, to.columns);
    seen.take(four.x);
    seen.take(four.y);
    seen.take(four.z);
    seen.take(four.w);
  }
  const unsigned largest = __reduce_max_sync(kAll, seen.largest),
                 finite = __reduce_max_sync(kAll, seen.finite);
  const float scale =
      grid.scale != nullptr
          ? scale_in(grid)
          : scalar::usable_scale(scalar::float_of(finite) / grid.bound, grid.bound);
  const scalar::ScaledGrid rule = {scale, -grid.bound, grid.bound};
  put_row(to, row, largest > scalar::kInfinityBits ? __uint_as_float(0x7fc00000u) : scale,
          [&](std::int64_t column, int (&codes)[4]) {
            const float4 four = four_of<kWhole>(from, column, to.columns);
            codes[0] = code_of(rule, four.x);
            codes[1] = code_of(rule, four.y);
            codes[2] = code_of(rule, four.z);
            codes[3] = code_of(rule, four.w);
          });
}

extern "C" __global__ void encode_rows(const __grid_constant__ CodedRows to,
                                       const __grid_constant__ CodeGrid grid, const float* x) {
  const std::int64_t row = thread_number() / 32;
  if (row >= to.rows) return;
  const bool whole =
      to.columns % 4 == 0 && reinterpret_cast<std::size_t>(x) % sizeof(float4) == 0;
  const float* const from = x + row * to.columns;
  if (whole)
    encode_row<true>(to, grid, from, row);
  else
    encode_row<false>(to, grid, from, row);
}

// ---- weights

// Row n of the weight as bytes, zeros behind its columns, and its scale times `unit`; behind the last row there are zeros. A warp
// for each row.
extern "C" __global__ void weight_bytes(const __grid_constant__ PackedWeight w,
                                        const __grid_constant__ WholeNumbers numbers, float unit,
                                        std::int64_t rows, std::int64_t stride, std::int8_t* bytes,
                                        float* scales) {
  __shared__ std::int8_t of[256];
  for (int i = threadIdx.x; i < 256; i += blockDim.x) of[i] = numbers.of[i];
  __syncthreads();
  const std::int64_t row = thread_number() / 32;
  if (row >= rows) return;
  const int lane = threadIdx.x % 32;
  for (std::int64_t number = lane; number < stride / 4; number += 32) {
    std::uint32_t four = 0;
    if (row < w.rows && 4 * number < w.columns) {
      const Quad quad = panel_quad<BITS>(w, row, number);
#pragma unroll
      for (int i = 0; i < 4; ++i)
        if (4 * number + i < w.columns)
          four |= (std::uint32_t(of[quad_code<BITS>(quad, i)]) & 255u) << (8 * i);
    }
    *reinterpret_cast<std::uint32_t*>(bytes + row * stride + 4 * number) = four;
  }
  if (lane == 0) scales[row] = row < w.rows ? scale_of(w, nullptr, row, 0) * unit : 0.0f;
}

// ---- sums

inline float value_of(const CodeSums& s, std::int32_t sum, std::int64_t row, std::int64_t column) {
  using namespace hone::scalar;
  const std::int64_t m = s.first + row;
  const float x =
      std::fma(float(sum) * s.weight_scales[column], s.x_scales[m], s.bias[column]);
  const float result = ACTIVATION;
  return s.residual == nullptr ? result : result + s.residual[m * s.columns + column];
}

// Of the columns from `column` on, as many as there are of four; rows of sums begin at whole groups of four.
inline int values_of(const CodeSums& s, std::int64_t row, std::int64_t column, float (&values)[4]) {
  const int4 four = *reinterpret_cast<const int4*>(s.sums + row * s.stride + column);
  const int sums[4] = {four.x, four.y, four.z, four.w};
  const int count = int(min(s.columns - column, std::int64_t(4)));
#pragma unroll
  for (int i = 0; i < 4; ++i)
    values[i] = i < count ? value_of(s, sums[i], row, column + i) : 0.0f;
  return count;
}

// A thread for each four columns of a row.
extern "C" __global__ void finish_values(const __grid_constant__ CodeSums s, float* y) {
  const std::int64_t of_row = (s.columns + 3) / 4, number = thread_number();
  if (number >= s.rows * of_row) return;
  const std::int64_t row = quotient(number, of_row), column = 4 * (number - row * of_row);
  float values[4];
  const int count = values_of(s, row, column, values);
  float* const to = y + (s.first + row) * s.columns + column;
  if (s.columns % 4 == 0) {
    *reinterpret_cast<float4*>(to) = make_float4(values[0], values[1], values[2], values[3]);
    return;
  }
#pragma unroll
  for (int i = 0; i < 4; ++i)
    if (i < count) to[i] = values[i];
}

// Rounded at once, a row for each warp.
extern "C" __global__ void finish_codes(const __grid_constant__ CodeSums s,
                                        const __grid_constant__ CodedRows to,
                                        const __grid_constant__ CodeGrid grid) {
  const std::int64_t row = thread_number() / 32;
  if (row >= s.rows) return;
  const float scale = scale_in(grid);
  const scalar::ScaledGrid rule = {scale, -grid.bound, grid.bound};
  bool numbers = true;
  put_row(to, s.first + row, scale, [&](std::int64_t column, int (&codes)[4]) {
    float values[4];
    const int count = values_of(s, row, column, values);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      numbers = numbers && values[i] == values[i];
      codes[i] = i < count ? code_of(rule, values[i]) : 0;
    }
  });
  if (!__all_sync(kAll, numbers) && threadIdx.x % 32 == 0)
    to.scales[s.first + row] = __uint_as_float(0x7fc00000u);
}
