#include "hone/kernels/half_conversion.h"

#include <atomic>

#include "hone/kernels/grain.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hone/kernels/half_conversion.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "hone/kernels/half-inl.h"

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

// Returns whether one of the n halves has all of these bits set.
bool has_exponent(std::uint16_t all_ones, std::int64_t n, const std::uint8_t* bytes) {
  const hn::ScalableTag<std::uint16_t> d;
  const hn::Repartition<std::uint8_t, decltype(d)> as_bytes;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto mask = hn::Set(d, all_ones);
  auto most = hn::Zero(d);
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes)
    most = hn::Max(most, hn::And(hn::BitCast(d, hn::LoadU(as_bytes, bytes + 2 * i)), mask));
  bool found = !hn::AllFalse(d, hn::Eq(most, mask));
  for (; i < n; ++i) {
    const int half = bytes[2 * i] | bytes[2 * i + 1] << 8;
    found = found || (half & all_ones) == all_ones;
  }
  return found;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace hone::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hone::kernels {
namespace {

HWY_EXPORT(has_exponent);
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

void half_to_float(Half half, std::int64_t n, const std::uint16_t* x, float* y) {
  if (half == Half::bfloat16)
    HWY_DYNAMIC_DISPATCH(bfloat16_to_float_range)(n, x, y);
  else
    HWY_DYNAMIC_DISPATCH(float16_to_float_range)(n, x, y);
}

bool all_finite(ThreadPool& pool, Half half, std::int64_t n, const std::uint8_t* bytes) {
  const std::uint16_t infinity = half == Half::bfloat16 ? 0x7f80 : 0x7c00;
  std::atomic<bool> odd = false;
  parallel_ranges(pool, n, kChunkElements, [&](std::int64_t begin, std::int64_t end) {
    if (HWY_DYNAMIC_DISPATCH(has_exponent)(infinity, end - begin, bytes + 2 * begin)) odd = true;
  });
  return !odd;
}

}  // namespace hone::kernels
#endif  // HWY_ONCE
