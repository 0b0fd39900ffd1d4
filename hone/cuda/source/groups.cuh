#pragma once
// Threads that work on one row together: a warp, of blocks (32, warps), or a whole block of (threads). What they join,
// each of them gets, with the same bits, in an order that depends on the number of threads alone.
#include "numbers.cuh"

struct Add {
  template <typename T>
  T operator()(T a, T b) const {
    return a + b;
  }
};
// What is no number is passed over: sums that follow show it.
struct Larger {
  float operator()(float a, float b) const { return fmaxf(a, b); }
};

inline float lowest() { return __uint_as_float(0xff800000u); }
inline float not_a_number() { return __uint_as_float(0x7fffffffu); }

template <typename T, typename Join>
T joined_in_warp(T value, Join join) {
#pragma unroll
  for (int apart = 16; apart > 0; apart /= 2) value = join(value, __shfl_xor_sync(0xffffffffu, value, apart));
  return value;
}

// Of a block of whole warps, 32 at most. All threads call it.
template <typename T, typename Join>
T joined_in_block(T value, Join join, T neutral) {
  __shared__ T parts[32];
  const int thread = threadIdx.y * blockDim.x + threadIdx.x;
  const int warps = blockDim.x * blockDim.y / 32;
  value = joined_in_warp(value, join);
  __syncthreads();  // some may still read what was joined before
  if (thread % 32 == 0) parts[thread / 32] = value;
  __syncthreads();
  return joined_in_warp(thread % 32 < warps ? parts[thread % 32] : neutral, join);
}

struct Warp {
  static std::int64_t group() { return std::int64_t(blockIdx.x) * blockDim.y + threadIdx.y; }
  static std::int64_t groups() { return std::int64_t(gridDim.x) * blockDim.y; }
  static int size() { return 32; }
  template <typename T>
  static T sum(T value) {
    return joined_in_warp(value, Add());
  }
  static float maximum(float value) { return joined_in_warp(value, Larger()); }
};

struct Block {
  static std::int64_t group() { return blockIdx.x; }
  static std::int64_t groups() { return gridDim.x; }
  static int size() { return blockDim.x; }
  template <typename T>
  static T sum(T value) {
    return joined_in_block(value, Add(), T(0));
  }
  static float maximum(float value) { return joined_in_block(value, Larger(), lowest()); }
};
