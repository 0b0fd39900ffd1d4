#include "hone/kernels/half_conversion.h"

#include "hone/kernels/grain.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hone/kernels/half_conversion.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "hone/kernels/bfloat16-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hone::kernels {
namespace HWY_NAMESPACE {
namespace {

HWY_INLINE BitsVec to_float16(Bits d, BitsVec v) {
  const Floats df;
  const BitsVec magnitude = hn::And(v, hn::Set(d, 0x7fffffffu));
  const BitsVec sign = hn::ShiftRight<16>(hn::Xor(v, magnitude));
  // Normal results: the exponent moves from bias 127 to bias 15; rounding may carry into it, up to
  // infinity.
  const BitsVec normal = hn::ShiftRight<13>(
      hn::Sub(biased_for_rounding<13>(d, magnitude), hn::Set(d, (127u - 15u) << 23)));
  // Subnormal results are multiples of 2^-24, the last place of a float near 0.5: adding 0.5 rounds
  // to them.
  const auto half = hn::Set(df, 0.5f);
  const BitsVec subnormal =
      hn::Sub(hn::BitCast(d, hn::Add(hn::BitCast(df, magnitude), half)), hn::BitCast(d, half));
  const auto is_subnormal = hn::Lt(magnitude, hn::Set(d, (127u - 14u) << 23));
  const auto is_large = hn::Gt(magnitude, hn::Set(d, 0x477fefffu));  // rounds to 65536 or more
  const auto is_nan = hn::Gt(magnitude, hn::Set(d, 0x7f800000u));
  BitsVec result = hn::IfThenElse(is_subnormal, subnormal, normal);
  result = hn::IfThenElse(is_large, hn::Set(d, 0x7c00u), result);
  result = hn::IfThenElse(is_nan, hn::Set(d, 0x7e00u), result);
  return hn::Or(result, sign);
}

HWY_INLINE BitsVec from_bfloat16(Bits, BitsVec v) { return hn::ShiftLeft<16>(v); }

HWY_INLINE BitsVec from_float16(Bits d, BitsVec v) {
  const Floats df;
  const BitsVec magnitude = hn::ShiftLeft<13>(hn::And(v, hn::Set(d, 0x7fffu)));
  const BitsVec sign = hn::ShiftLeft<16>(hn::And(v, hn::Set(d, 0x8000u)));
  // 2^112 moves the exponent from bias 15 to bias 127 and makes subnormals normal, exactly.
  const BitsVec finite = hn::BitCast(d, hn::Mul(hn::BitCast(df, magnitude), hn::Set(df, 0x1p112f)));
  const auto is_special =
      hn::Gt(magnitude, hn::Set(d, (0x7bffu << 13) | 0x1fffu));  // infinity or NaN
  return hn::Or(hn::IfThenElse(is_special, hn::Or(magnitude, hn::Set(d, 0x7f800000u)), finite),
                sign);
}

template <class Widen>
HWY_INLINE void widen_range(std::int64_t n, const std::uint16_t* x, float* y, Widen&& widen) {
  const Floats d;
  for_vectors(d, n, [&](std::int64_t i, auto part) HWY_ATTR {
    const BitsVec bits = widen(Bits(), hn::PromoteTo(Bits(), load(Halves(), x + i, part)));
    store(hn::BitCast(d, bits), d, y + i, part);
  });
}

void float_to_bfloat16_range(std::int64_t n, const float* x, std::uint16_t* y) {
  narrow_range(n, x, y, [](Bits d, BitsVec v) HWY_ATTR { return to_bfloat16(d, v); });
}
void float_to_float16_range(std::int64_t n, const float* x, std::uint16_t* y) {
  narrow_range(n, x, y, [](Bits d, BitsVec v) HWY_ATTR { return to_float16(d, v); });
}
void bfloat16_to_float_range(std::int64_t n, const std::uint16_t* x, float* y) {
  widen_range(n, x, y, [](Bits d, BitsVec v) HWY_ATTR { return from_bfloat16(d, v); });
}
void float16_to_float_range(std::int64_t n, const std::uint16_t* x, float* y) {
  widen_range(n, x, y, [](Bits d, BitsVec v) HWY_ATTR { return from_float16(d, v); });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace hone::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hone::kernels {
namespace {

HWY_EXPORT(float_to_bfloat16_range);
HWY_EXPORT(bfloat16_to_float_range);
HWY_EXPORT(float_to_float16_range);
HWY_EXPORT(float16_to_float_range);

template <typename From, typename To>
void run(ThreadPool& pool, std::int64_t n, const From* x, To* y,
         void (*range)(std::int64_t, const From*, To*)) {
  parallel_ranges(pool, n, kChunkElements, [&](std::int64_t begin, std::int64_t end) {
    range(end - begin, x + begin, y + begin);
  });
}

}  // namespace

void float_to_bfloat16(ThreadPool& pool, std::int64_t n, const float* x, std::uint16_t* y) {
  run(pool, n, x, y, &HWY_DYNAMIC_DISPATCH(float_to_bfloat16_range));
}
void bfloat16_to_float(ThreadPool& pool, std::int64_t n, const std::uint16_t* x, float* y) {
  run(pool, n, x, y, &HWY_DYNAMIC_DISPATCH(bfloat16_to_float_range));
}
void float_to_float16(ThreadPool& pool, std::int64_t n, const float* x, std::uint16_t* y) {
  run(pool, n, x, y, &HWY_DYNAMIC_DISPATCH(float_to_float16_range));
}
void float16_to_float(ThreadPool& pool, std::int64_t n, const std::uint16_t* x, float* y) {
  run(pool, n, x, y, &HWY_DYNAMIC_DISPATCH(float16_to_float_range));
}

}  // namespace hone::kernels
#endif  // HWY_ONCE
