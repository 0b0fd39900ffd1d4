#pragma once
// Wrappers of the instructions with which a warp multiplies matrices of 16-bit numbers, or of floats as TF32, on tensor
// cores (sm_80 and up). Lane 4 g + c of a warp has, of a 16 x 8 block of sums, the columns 2 c and 2 c + 1 of the rows
// g ([0], [1]) and g + 8 ([2], [3]).
#include "numbers.cuh"
#include "warp_copies.cuh"

#define TYPE_bfloat16 "bf16"
#define TYPE_float16 "f16"
#define TYPE_float "tf32"
#define TYPE_NAME(value) TYPE_##value
#define TYPE_OF(value) TYPE_NAME(value)
#define TYPE TYPE_OF(VALUE)
#define SHAPE_bfloat16 "m16n8k16"
#define SHAPE_float16 "m16n8k16"
#define SHAPE_float "m16n8k8"
#define SHAPE_NAME(value) SHAPE_##value
#define SHAPE_OF(value) SHAPE_NAME(value)

// sum (16 x 8) += a (16 x depth) b (depth x 8): the depth is 32 bytes, 16 numbers or 8 floats.
inline void multiply_add(float (&sum)[4], const std::uint32_t (&a)[4], std::uint32_t b0, std::uint32_t b1) {
  asm("mma.sync.aligned." SHAPE_OF(VALUE) ".row.col.f32." TYPE "." TYPE
      ".f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// Packs two values of type VALUE into a word.
inline std::uint32_t packed(float low, float high) {
  std::uint32_t both;
  asm("cvt.rn." TYPE "x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
  return both;
}
template <typename T = VALUE>
inline float low_of(std::uint32_t both) {
  return to_float(T{std::uint16_t(both)});
}
template <typename T = VALUE>
inline float high_of(std::uint32_t both) {
  return to_float(T{std::uint16_t(both >> 16)});
}

// 2^x
inline float exp2_of(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
