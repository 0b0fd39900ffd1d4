// Rows of whole numbers of a byte (hone/kernels/int8_rows.h) and products of them: what rounds values to such rows, what makes
// bytes of packed codes, and what is left to do with sums. BITS: of a packed code; ACTIVATION: the expression of x.
#include "hone/kernels/scalar/activation.h"
#include "hone/kernels/scalar/scaled_integer.h"
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

// `Int8Rows` of one block a row.
struct CodedRows {
  std::int64_t rows, columns, stride;
  std::int8_t* codes;
  float* scales;
  std::int32_t* starts;
};

// Codes between -bound and bound: of one scale in a state, or where that is null of one for each row, from its values.
struct Grid {
  float bound;
  const float* scale;
};

inline float scale_in(const Grid& grid) {
  return scalar::usable_scale(std::fabs(*grid.scale), grid.bound);
}

// A row for each warp, whose lanes call this together: code_at(column) for the columns of the lane.
template <typename CodeAt>
inline void put_row(const CodedRows& to, std::int64_t row, float scale, CodeAt&& code_at) {
  const int lane = threadIdx.x % 32;
  std::int8_t* const codes = to.codes + row * to.stride;
  std::int32_t sum = 0;
  for (std::int64_t word = lane; word < to.stride / 4; word += 32) {
    std::uint32_t four = 0;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const std::int64_t column = 4 * word + i;
      const int code = column < to.columns ? code_at(column) : 0;
      sum += code;
      four |= (std::uint32_t(code) & 255u) << (8 * i);
    }
    *reinterpret_cast<std::uint32_t*>(codes + 4 * word) = four;
  }
  sum = __reduce_add_sync(kAll, sum);
  if (lane != 0) return;
  to.scales[row] = scale;
  const std::int64_t first = row / kGroup * kGroup, group = min(kGroup, to.rows - first);
  std::int32_t* const start = to.starts + 2 * first + row - first;
  start[0] = std::int32_t(std::uint32_t(kSumOrigin) - 128u * std::uint32_t(sum));
  start[group] = kSumOrigin;
}

// What has no number has the code 0: the scale of its row says that there is one.
inline int code_of(const scalar::ScaledGrid& grid, float value) {
  const float whole = grid.whole(value);
  return whole == whole ? int(whole) : 0;
}

extern "C" __global__ void encode_rows(const __grid_constant__ CodedRows to,
                                       const __grid_constant__ Grid grid, const float* x) {
  const std::int64_t row = thread_number() / 32;
  if (row >= to.rows) return;
  const float* const from = x + row * to.columns;
  unsigned finite = 0, largest = 0;
#pragma unroll 4
  for (std::int64_t i = threadIdx.x % 32; i < to.columns; i += 32) {
    const unsigned magnitude = scalar::magnitude_bits(from[i]);
    largest = max(largest, magnitude);
    if (magnitude < scalar::kInfinityBits) finite = max(finite, magnitude);
  }
  largest = __reduce_max_sync(kAll, largest);
  finite = __reduce_max_sync(kAll, finite);
  const float scale =
      grid.scale != nullptr
          ? scale_in(grid)
          : scalar::usable_scale(scalar::float_of(finite) / grid.bound, grid.bound);
  const scalar::ScaledGrid rule = {scale, -grid.bound, grid.bound};
  put_row(to, row, largest > scalar::kInfinityBits ? __uint_as_float(0x7fc00000u) : scale,
          [&](std::int64_t column) { return code_of(rule, from[column]); });
}

// ---- weights

// What stored codes stand for, in steps of their unit.
struct WholeNumbers {
  std::int8_t of[256];
};

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

// ---- sums of few rows, for which cuBLASLt has no kernel: a warp for each output, whose weights are read once

constexpr int kFewRows = 32;

extern "C" __global__ void few_sums(const std::int8_t* x, const std::int8_t* weight, int rows,
                                    std::int64_t outputs, std::int64_t stride, std::int32_t* sums) {
  const std::int64_t output = thread_number() / 32;
  if (output >= outputs) return;
  const int lane = threadIdx.x % 32;
  const auto* const w = reinterpret_cast<const int4*>(weight + output * stride);
  const auto* const from = reinterpret_cast<const int4*>(x);
  const std::int64_t words = stride / 16;
  int sum[kFewRows] = {};
  for (std::int64_t i = lane; i < words; i += 32) {
    const int4 a = w[i];
#pragma unroll
    for (int row = 0; row < kFewRows; ++row) {
      if (row >= rows) break;
      const int4 b = from[row * words + i];
      sum[row] = __dp4a(a.x, b.x, sum[row]);
      sum[row] = __dp4a(a.y, b.y, sum[row]);
      sum[row] = __dp4a(a.z, b.z, sum[row]);
      sum[row] = __dp4a(a.w, b.w, sum[row]);
    }
  }
#pragma unroll
  for (int row = 0; row < kFewRows; ++row) {
    if (row >= rows) break;
    const int all = __reduce_add_sync(kAll, sum[row]);
    if (lane == 0) sums[row * outputs + output] = all;
  }
}

// ---- sums of rows from `first` on, `sums_stride` apart

struct Sums {
  const std::int32_t* sums;
  std::int64_t stride;
  const float *weight_scales, *x_scales, *bias, *residual;
  std::int64_t first, rows, columns;
};

inline float value_of(const Sums& s, std::int64_t row, std::int64_t column) {
  using namespace hone::scalar;
  const std::int64_t m = s.first + row;
  const float x = std::fma(float(s.sums[row * s.stride + column]) * s.weight_scales[column],
                           s.x_scales[m], s.bias[column]);
  const float result = ACTIVATION;
  return s.residual == nullptr ? result : result + s.residual[m * s.columns + column];
}

extern "C" __global__ void finish_values(const __grid_constant__ Sums s, float* y) {
  const std::int64_t column = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (column >= s.columns) return;
  for (std::int64_t row = blockIdx.y; row < s.rows; row += gridDim.y)
    y[(s.first + row) * s.columns + column] = value_of(s, row, column);
}

// Rounded at once, a row for each warp.
extern "C" __global__ void finish_codes(const __grid_constant__ Sums s,
                                        const __grid_constant__ CodedRows to,
                                        const __grid_constant__ Grid grid) {
  const std::int64_t row = thread_number() / 32;
  if (row >= s.rows) return;
  const float scale = scale_in(grid);
  const scalar::ScaledGrid rule = {scale, -grid.bound, grid.bound};
  bool numbers = true;
  const auto code_at = [&](std::int64_t column) {
    const float value = value_of(s, row, column);
    numbers = numbers && value == value;
    return code_of(rule, value);
  };
  put_row(to, s.first + row, scale, code_at);
  if (!__all_sync(kAll, numbers) && threadIdx.x % 32 == 0)
    to.scales[s.first + row] = __uint_as_float(0x7fc00000u);
}
