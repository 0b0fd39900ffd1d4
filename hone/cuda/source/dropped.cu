// Products of OUTPUTS outputs at a time with the result of dropout, which is never stored. A warp processes 128 columns
// at a time. Each lane has four adjacent ones, whose random words it computes at once.
#include "dropout.cuh"

constexpr int kLanes = 32;
constexpr int kWarps = 4;
constexpr unsigned kAllLanes = 0xffffffffu;

using Four = Pack<float, 4>;

// Reads columns [column, column + 4) of a row, zeros beyond its end. `aligned`: rows consist of whole, aligned fours.
inline Four read_four(const float* row, std::int64_t column, std::int64_t columns, bool aligned) {
  if (aligned) return *reinterpret_cast<const Four*>(row + column);
  Four values;
#pragma unroll
  for (int i = 0; i < 4; ++i) values.at[i] = column + i < columns ? row[column + i] : 0.0f;
  return values;
}

inline Four multiplied(Four values, const Four& factors) {
#pragma unroll
  for (int i = 0; i < 4; ++i) values.at[i] *= factors.at[i];
  return values;
}

// Sums 32 values over the lanes of a warp; lane i gets sum i. In each step, a lane passes on half of its values and
// keeps the other half.
inline float sum_over_lanes(float (&values)[kLanes]) {
  const int lane = threadIdx.x;
#pragma unroll
  for (int step = 1; step <= 5; ++step) {
    const int half = kLanes >> step;
    const bool upper = (lane & half) != 0;
#pragma unroll
    for (int i = 0; i < kLanes / 2; ++i) {
      if (i >= half) continue;
      const float given = upper ? values[i] : values[i + half];
      const float kept = upper ? values[i + half] : values[i];
      values[i] = kept + __shfl_xor_sync(kAllLanes, given, half);
    }
  }
  return values[0];
}

// y (rows, outputs) = dropped x (rows, columns) weight (outputs, columns)^T: a warp computes kRows rows of OUTPUTS
// outputs.
extern "C" __global__ void product(const __grid_constant__ Drops drops, const float* x,
                                   const float* weight, float* y, std::int64_t rows,
                                   std::int64_t outputs, int aligned) {
  constexpr int kRows = 4;
  constexpr int kPerSum = kLanes / kRows;  // outputs whose sums a warp reduces together
  static_assert(OUTPUTS % kPerSum == 0);
  const std::int64_t columns = drops.length;
  const std::int64_t first_row = (std::int64_t(blockIdx.x) * kWarps + threadIdx.y) * kRows;
  const std::int64_t first_output = std::int64_t(blockIdx.y) * OUTPUTS;
  if (first_row >= rows) return;
  const RandomStream random = drops.random();
  std::uint64_t words[kRows];
#pragma unroll
  for (int r = 0; r < kRows; ++r)
    words[r] = first_row + r < rows ? drops.first_word(first_row + r) : 0;
  float sums[OUTPUTS / kPerSum][kLanes] = {};
  for (std::int64_t column = threadIdx.x * 4; column < columns; column += kLanes * 4) {
    Four values[kRows] = {};
#pragma unroll
    for (int r = 0; r < kRows; ++r)
      if (first_row + r < rows)
        values[r] = read_four(x + (first_row + r) * columns, column, columns, aligned);
#pragma unroll
    for (int r = 0; r < kRows; ++r)
      values[r] = multiplied(values[r], four_factors(drops, random, words[r] + column));
#pragma unroll
    for (int n = 0; n < OUTPUTS; ++n) {
      if (first_output + n >= outputs) continue;
      const Four w = read_four(weight + (first_output + n) * columns, column, columns, aligned);
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        float& sum = sums[n / kPerSum][n % kPerSum * kRows + r];
#pragma unroll
        for (int i = 0; i < 4; ++i) sum = fmaf(values[r].at[i], w.at[i], sum);
      }
    }
  }
#pragma unroll
  for (int part = 0; part < OUTPUTS / kPerSum; ++part) {
    const float sum = sum_over_lanes(sums[part]);
    const std::int64_t row = first_row + threadIdx.x % kRows;
    const std::int64_t output = first_output + part * kPerSum + threadIdx.x / kRows;
    if (row < rows && output < outputs) y[row * outputs + output] = sum;
  }
}

// dx (rows, columns) = dropped dy (rows, outputs) weight (outputs, columns); dweight (chunks, outputs, columns) = dy^T
// dropped x, for each chunk of rows. A block computes 128 columns of a chunk, its warps every kWarps-th row, for
// OUTPUTS outputs at a time, which it adds to dx.
extern "C" __global__ void product_gradient(const __grid_constant__ Drops drops,
                                            const float* __restrict__ x,
                                            const float* __restrict__ weight,
                                            const float* __restrict__ dy, float* __restrict__ dx,
                                            float* __restrict__ dweight, std::int64_t rows,
                                            std::int64_t outputs, std::int64_t rows_per_chunk,
                                            int aligned) {
  __shared__ Four shared_sums[kWarps][OUTPUTS][kLanes];
  const std::int64_t columns = drops.length;
  const std::int64_t column = (std::int64_t(blockIdx.x) * kLanes + threadIdx.x) * 4;
  const bool inside = column < columns;
  const std::int64_t begin = std::int64_t(blockIdx.y) * rows_per_chunk;
  const std::int64_t end = min(begin + rows_per_chunk, rows);
  const RandomStream random = drops.random();
  for (std::int64_t first = 0; first < outputs; first += OUTPUTS) {
    Four weights[OUTPUTS] = {}, sums[OUTPUTS] = {};
#pragma unroll
    for (int n = 0; n < OUTPUTS; ++n)
      if (inside && first + n < outputs)
        weights[n] = read_four(weight + (first + n) * columns, column, columns, aligned);
#pragma unroll 2
    for (std::int64_t row = begin + threadIdx.y; row < end; row += kWarps) {
      if (!inside) break;
      const Four factors = four_factors(drops, random, drops.first_word(row) + column);
      const Four kept = multiplied(read_four(x + row * columns, column, columns, aligned), factors);
      float* const to = dx + row * columns;
      Four gradient = {};
#pragma unroll
      for (int n = 0; n < OUTPUTS; ++n) {
        const float d = first + n < outputs ? dy[row * outputs + first + n] : 0.0f;
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          gradient.at[i] = fmaf(d, weights[n].at[i], gradient.at[i]);
          sums[n].at[i] = fmaf(d, kept.at[i], sums[n].at[i]);
        }
      }
      gradient = multiplied(gradient, factors);
      if (first > 0) {
        const Four before = read_four(to, column, columns, aligned);
#pragma unroll
        for (int i = 0; i < 4; ++i) gradient.at[i] += before.at[i];
      }
      if (aligned) {
        *reinterpret_cast<Four*>(to + column) = gradient;
      } else {
#pragma unroll
        for (int i = 0; i < 4; ++i)
          if (column + i < columns) to[column + i] = gradient.at[i];
      }
    }
#pragma unroll
    for (int n = 0; n < OUTPUTS; ++n) shared_sums[threadIdx.y][n][threadIdx.x] = sums[n];
    __syncthreads();
    for (int n = threadIdx.y; n < OUTPUTS && first + n < outputs; n += kWarps) {
      Four sum = shared_sums[0][n][threadIdx.x];
#pragma unroll
      for (int warp = 1; warp < kWarps; ++warp) {
        const Four more = shared_sums[warp][n][threadIdx.x];
#pragma unroll
        for (int i = 0; i < 4; ++i) sum.at[i] += more.at[i];
      }
      float* const to = dweight + (blockIdx.y * outputs + first + n) * columns;
#pragma unroll
      for (int i = 0; i < 4; ++i)
        if (column + i < columns) to[column + i] = sum.at[i];
    }
    __syncthreads();
  }
}
