// Sums over dimensions, from VALUE to RESULT. A block sums a chunk of terms for some results, its threads in a fixed
// tree. With several chunks, `to` is (chunks, results), and its columns are summed by another launch.
#include "nest.cuh"
#include "numbers.cuh"

#ifndef RESULT
#define RESULT float
#endif

constexpr int kThreads = 256;

// Calls body(offset) for terms begin, begin + step, ... below end.
template <typename Body>
inline void for_terms(const LoopNest<1>& terms, std::int64_t begin, std::int64_t end,
                      std::int64_t step, Body&& body) {
  if (terms.rank == 1) {
    const std::int64_t stride = terms.strides[0][0];
#pragma unroll 8
    for (std::int64_t i = begin; i < end; i += step) body(i * stride);
  } else {
    for (std::int64_t i = begin; i < end; i += step) body(offset_of(terms, i));
  }
}

// Results are adjacent, `columns` of them for each element of `outer`. Thread (x, y) sums every blockDim.y-th term of
// column x.
template <int kCount>
inline void run_columns(const LoopNest<1>& outer, const LoopNest<1>& terms, const VALUE* x,
                        RESULT* to, std::int64_t columns, std::int64_t tiles, std::int64_t results,
                        std::int64_t term_count, std::int64_t terms_per_chunk) {
  using Values = Pack<float, kCount>;
  __shared__ Values sums[kThreads];
  const std::int64_t row = quotient(blockIdx.x, tiles), tile = blockIdx.x - row * tiles;
  const std::int64_t column = (tile * blockDim.x + threadIdx.x) * kCount;
  const std::int64_t begin = blockIdx.y * terms_per_chunk;
  const std::int64_t end = min(begin + terms_per_chunk, term_count);
  Values sum = {};
  if (column < columns) {
    const VALUE* const from = x + offset_of(outer, row) + column;
    for_terms(terms, begin + threadIdx.y, end, blockDim.y, [&](std::int64_t offset) {
      const Pack<VALUE, kCount> values = *reinterpret_cast<const Pack<VALUE, kCount>*>(from + offset);
#pragma unroll
      for (int i = 0; i < kCount; ++i) sum.at[i] += to_float(values.at[i]);
    });
  }
  Values* const mine = sums + threadIdx.y * blockDim.x + threadIdx.x;
  *mine = sum;
  for (int half = blockDim.y / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.y >= half) continue;
    const Values& other = mine[half * blockDim.x];
#pragma unroll
    for (int i = 0; i < kCount; ++i) mine->at[i] += other.at[i];
  }
  if (threadIdx.y > 0 || column >= columns) return;
  Pack<RESULT, kCount> result;
#pragma unroll
  for (int i = 0; i < kCount; ++i) result.at[i] = from_float<RESULT>(mine->at[i]);
  *reinterpret_cast<Pack<RESULT, kCount>*>(to + blockIdx.y * results + row * columns + column) = result;
}

extern "C" __global__ void sum_columns(const __grid_constant__ LoopNest<1> outer,
                                       const __grid_constant__ LoopNest<1> terms, const VALUE* x,
                                       RESULT* to, std::int64_t columns, std::int64_t tiles,
                                       std::int64_t results, std::int64_t term_count,
                                       std::int64_t terms_per_chunk) {
  run_columns<4>(outer, terms, x, to, columns, tiles, results, term_count, terms_per_chunk);
}
extern "C" __global__ void sum_columns_unaligned(const __grid_constant__ LoopNest<1> outer,
                                                 const __grid_constant__ LoopNest<1> terms,
                                                 const VALUE* x, RESULT* to, std::int64_t columns,
                                                 std::int64_t tiles, std::int64_t results,
                                                 std::int64_t term_count,
                                                 std::int64_t terms_per_chunk) {
  run_columns<1>(outer, terms, x, to, columns, tiles, results, term_count, terms_per_chunk);
}

// Terms are adjacent. Thread (x, y) sums every blockDim.x-th term of result y.
extern "C" __global__ void sum_rows(const __grid_constant__ LoopNest<1> kept,
                                    const __grid_constant__ LoopNest<1> terms, const VALUE* x,
                                    RESULT* to, std::int64_t results, std::int64_t term_count,
                                    std::int64_t terms_per_chunk) {
  __shared__ float sums[kThreads];
  const std::int64_t result = std::int64_t(blockIdx.x) * blockDim.y + threadIdx.y;
  const std::int64_t begin = blockIdx.y * terms_per_chunk;
  const std::int64_t end = min(begin + terms_per_chunk, term_count);
  float sum = 0;
  if (result < results) {
    const VALUE* const from = x + offset_of(kept, result);
    for_terms(terms, begin + threadIdx.x, end, blockDim.x,
              [&](std::int64_t offset) { sum += to_float(from[offset]); });
  }
  float* const mine = sums + threadIdx.y * blockDim.x + threadIdx.x;
  *mine = sum;
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) *mine += mine[half];
  }
  if (threadIdx.x == 0 && result < results) to[blockIdx.y * results + result] = from_float<RESULT>(*mine);
}
