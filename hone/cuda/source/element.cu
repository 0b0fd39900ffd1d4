// Element-wise operations. EXPRESSION computes the result from the operands x and y and a number, in fp32; SECOND is
// the element type of y, if there is one. `number` is an argument, or is read from GPU memory at `number_at`.
#include "hone/kernels/scalar/activation.h"
#include "nest.cuh"
#include "numbers.cuh"

#ifdef SECOND
#define BINARY
constexpr bool kBinary = true;
#else
#define SECOND VALUE
constexpr bool kBinary = false;
#endif

constexpr int kPack = 16 / sizeof(VALUE);

inline float to_float(bool x) { return x ? 1.0f : 0.0f; }

inline VALUE result(VALUE a, SECOND b, float number) {
  using namespace hone::scalar;
  const float x = to_float(a), y = to_float(b);
  return from_float<VALUE>(EXPRESSION);
}

template <int kCount>
inline Pack<VALUE, kCount> results(const Pack<VALUE, kCount>& x, const Pack<SECOND, kCount>& y,
                                   float number) {
  Pack<VALUE, kCount> z;
#pragma unroll
  for (int i = 0; i < kCount; ++i) z.at[i] = result(x.at[i], y.at[i], number);
  return z;
}

// Operands and result are dense and have one shape; the result may overwrite an operand.
template <int kCount>
inline void run_dense(const VALUE* x, const SECOND* y, const float* number_at, float number,
                      VALUE* to, std::int64_t count) {
  constexpr int kRounds = 2;  // loads in flight
  if (number_at) number = *number_at;
  const std::int64_t step = std::int64_t(blockDim.x) * kCount;
  const std::int64_t first = blockIdx.x * kRounds * step + threadIdx.x * kCount;
  Pack<VALUE, kCount> xs[kRounds];
  Pack<SECOND, kCount> ys[kRounds] = {};
#pragma unroll
  for (int round = 0; round < kRounds; ++round) {
    const std::int64_t at = first + round * step;
    if (at + kCount > count) continue;
    xs[round] = *reinterpret_cast<const Pack<VALUE, kCount>*>(x + at);
    if constexpr (kBinary) ys[round] = *reinterpret_cast<const Pack<SECOND, kCount>*>(y + at);
  }
#pragma unroll
  for (int round = 0; round < kRounds; ++round) {
    const std::int64_t at = first + round * step;
    if (at + kCount <= count) {
      *reinterpret_cast<Pack<VALUE, kCount>*>(to + at) = results(xs[round], ys[round], number);
    } else {
      for (std::int64_t i = at; i < count; ++i) to[i] = result(x[i], kBinary ? y[i] : SECOND{}, number);
    }
  }
}

extern "C" __global__ void dense(const VALUE* x, const SECOND* y, const float* number_at,
                                 float number, VALUE* to, std::int64_t count) {
  run_dense<kPack>(x, y, number_at, number, to, count);
}
extern "C" __global__ void dense_unaligned(const VALUE* x, const SECOND* y, const float* number_at,
                                           float number, VALUE* to, std::int64_t count) {
  run_dense<1>(x, y, number_at, number, to, count);
}

#ifdef BINARY

// Reads kCount elements of the innermost dimension: adjacent ones, or one that is repeated.
template <int kCount, typename T>
inline Pack<T, kCount> neighbours(const T* from, std::int64_t stride) {
  if constexpr (kCount > 1) {
    if (stride == 0) {
      Pack<T, kCount> repeated;
#pragma unroll
      for (int i = 0; i < kCount; ++i) repeated.at[i] = *from;
      return repeated;
    }
  }
  return *reinterpret_cast<const Pack<T, kCount>*>(from);
}

// Operands are strided, and broadcast where their stride is 0; the result is dense.
template <int kCount>
inline void run_broadcast(const LoopNest<2>& nest, const VALUE* x, const SECOND* y, VALUE* to,
                          std::int64_t packs) {
  const std::int64_t i = thread_number();
  if (i >= packs) return;
  const int inner = nest.rank - 1;
  const std::int64_t per_run = quotient(nest.sizes[inner], kCount), run = quotient(i, per_run);
  const std::int64_t along = (i - run * per_run) * kCount;
  const std::int64_t x_stride = nest.strides[0][inner], y_stride = nest.strides[1][inner];
  std::int64_t at[2] = {along * x_stride, along * y_stride};
  add_offsets(nest, inner, run, at);
  const auto z = results(neighbours<kCount>(x + at[0], x_stride),
                         neighbours<kCount>(y + at[1], y_stride), 0);
  *reinterpret_cast<Pack<VALUE, kCount>*>(to + i * kCount) = z;
}

extern "C" __global__ void broadcast(const __grid_constant__ LoopNest<2> nest, const VALUE* x,
                                     const SECOND* y, VALUE* to, std::int64_t packs) {
  run_broadcast<kPack>(nest, x, y, to, packs);
}
extern "C" __global__ void broadcast_unaligned(const __grid_constant__ LoopNest<2> nest,
                                               const VALUE* x, const SECOND* y, VALUE* to,
                                               std::int64_t packs) {
  run_broadcast<1>(nest, x, y, to, packs);
}

#endif  // BINARY
