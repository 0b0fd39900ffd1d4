#pragma once
// Element types of values, and their conversion to and from float, in which kernels compute. VALUE is the type of a
// program's values: float (the default), bfloat16 or float16.
#include "cmath"
#include "cstdint"

struct bfloat16 {
  std::uint16_t bits;
};
struct float16 {
  std::uint16_t bits;
};

#ifndef VALUE
#define VALUE float
#endif

inline float to_float(float x) { return x; }
inline float to_float(bfloat16 x) { return __uint_as_float(std::uint32_t(x.bits) << 16); }
inline float to_float(float16 x) {
  float y;
  asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x.bits));
  return y;
}

// Rounds to nearest, ties to even.
template <typename T>
T from_float(float x);
template <>
inline float from_float<float>(float x) {
  return x;
}
template <>
inline bfloat16 from_float<bfloat16>(float x) {
  bfloat16 y;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(y.bits) : "f"(x));
  return y;
}
template <>
inline float16 from_float<float16>(float x) {
  float16 y;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y.bits) : "f"(x));
  return y;
}

/// kCount adjacent elements, read or written at once if their address is aligned.
template <typename T, int kCount>
struct alignas(sizeof(T) * kCount) Pack {
  T at[kCount];
};

inline std::int64_t thread_number() {
  return std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
}
inline std::int64_t all_threads() { return std::int64_t(gridDim.x) * blockDim.x; }
