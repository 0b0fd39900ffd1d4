#pragma once
// Groups of threads that work on one row: a warp, in blocks of (32, warps), or a whole block of (threads). A reduction
// returns the same bits to each thread of a group, and its order depends on the number of threads alone.
#include "numbers.cuh"

struct Add {
  template <typename T>
  T operator()(T a, T b) const {
    return a + b;
  }
};
// Ignores NaN, which the sums that follow propagate.
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

// Reduces over a block of at most 32 whole warps. All threads must call it.
template <typename T, typename Join>
T joined_in_block(T value, Join join, T neutral) {
  __shared__ T parts[32];
  const int thread = threadIdx.y * blockDim.x + threadIdx.x;
  const int warps = blockDim.x * blockDim.y / 32;
  value = joined_in_warp(value, join);
  __syncthreads();  // threads may still read parts of an earlier call
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
