#include "hone/kernels/minifloat.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "hone/base/error.h"
#include "hone/kernels/grain.h"
#include "hone/kernels/scalar/minifloat.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hone/kernels/minifloat.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "hone/kernels/minifloat-inl.h"
#include "hone/kernels/vector_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hone::kernels {
namespace HWY_NAMESPACE {
namespace {

template <bool kInfinite>
HWY_INLINE void round_all(const Minifloat& format, std::int64_t n, const float* x, float* y) {
  const Floats d;
  const MinifloatRounder<Floats, kInfinite> round(d, format);
  for_vectors(d, n, [&](std::int64_t i, auto part) HWY_ATTR {
    store(round(load(d, x + i, part)), d, y + i, part);
  });
}

void minifloat_range(const Minifloat& format, std::int64_t n, const float* x, float* y) {
  if (format.infinite) return round_all<true>(format, n, x, y);
  round_all<false>(format, n, x, y);
}

// Magnitudes from 2^64 on are scaled by 2^-64 and rounded to `high`, the others to `low`.
template <bool kInfinite>
HWY_INLINE void round_halves(const Minifloat& low, const Minifloat& high, std::int64_t n,
                             const float* x, float* y) {
  const Floats d;
  const auto up = hn::Set(d, 0x1p64f), down = hn::Set(d, 0x1p-64f);
  const MinifloatRounder<Floats> round_low(d, low);
  const MinifloatRounder<Floats, kInfinite> round_high(d, high);
  for_vectors(d, n, [&](std::int64_t i, auto part) HWY_ATTR {
    const auto value = load(d, x + i, part);
    const auto large = hn::Mul(round_high(hn::Mul(value, down)), up);
    store(hn::IfThenElse(hn::Ge(hn::Abs(value), up), large, round_low(value)), d, y + i, part);
  });
}

void wide_range(const Minifloat& low, const Minifloat& high, std::int64_t n, const float* x,
                float* y) {
  if (high.infinite) return round_halves<true>(low, high, n, x, y);
  round_halves<false>(low, high, n, x, y);
}

// Rounds away the lower half of the bits; a carry into the exponent gives the next binade or infinity.
void bfloat16_range(std::int64_t n, const float* x, float* y) {
  const Floats d;
  const hn::RebindToUnsigned<Floats> bits;
  for_vectors(d, n, [&](std::int64_t i, auto part) HWY_ATTR {
    const auto value = load(d, x + i, part);
    const auto u = hn::BitCast(bits, value);
    const auto odd = hn::And(hn::ShiftRight<16>(u), hn::Set(bits, 1u));
    const auto rounded = hn::Add(hn::Add(u, hn::Set(bits, 0x7fffu)), odd);
    const auto kept = hn::BitCast(d, hn::And(rounded, hn::Set(bits, 0xffff0000u)));
    store(hn::IfThenElse(hn::IsNaN(value), value, kept), d, y + i, part);
  });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace hone::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hone::kernels {
namespace {

HWY_EXPORT(minifloat_range);
HWY_EXPORT(wide_range);
HWY_EXPORT(bfloat16_range);

Minifloat below_2_to_64(const Minifloat& format) {
  return {format.mantissa_bits, format.min_exponent, 0x1p64f};
}

Minifloat scaled_by_2_to_minus_64(const Minifloat& format) {
  return {format.mantissa_bits, std::max(format.min_exponent - 64, -126), format.highest * 0x1p-64f,
          format.infinite};
}

}  // namespace

float round_scalar(const Minifloat& format, float x) {
  const scalar::Minifloat values{format.mantissa_bits, format.min_exponent, format.highest,
                                 format.infinite};
  return values(x);
}

bool vectorizable(const Minifloat& format) {
  const int highest_exponent = format.highest == 0 ? -126 : std::ilogb(format.highest);
  const int highest_binade =
      std::max(highest_exponent + (format.infinite ? 1 : 0), format.min_exponent);
  return format.mantissa_bits >= 0 && format.mantissa_bits <= 22 && format.min_exponent >= -126 &&
         highest_binade <= 104 + format.mantissa_bits;
}

void round_to_minifloat(ThreadPool& pool, const Minifloat& format, std::int64_t n, const float* x,
                        float* y) {
  HONE_ASSERT(format.mantissa_bits >= 0 && format.mantissa_bits <= 23 && format.highest >= 0,
              "minifloat with {} mantissa bits up to {}", format.mantissa_bits, format.highest);
  const auto run = [&](auto&& range) {
    parallel_ranges(pool, n, kChunkElements, [&](std::int64_t begin, std::int64_t end) {
      range(end - begin, x + begin, y + begin);
    });
  };
  if (vectorizable(format)) {
    const auto range = &HWY_DYNAMIC_DISPATCH(minifloat_range);
    return run([&](auto... part) { range(format, part...); });
  }
  const Minifloat low = below_2_to_64(format), high = scaled_by_2_to_minus_64(format);
  if (format.min_exponent <= 64 && vectorizable(low) && vectorizable(high)) {
    const auto range = &HWY_DYNAMIC_DISPATCH(wide_range);
    return run([&](auto... part) { range(low, high, part...); });
  }
  run([&](std::int64_t count, const float* from, float* to) {
    for (std::int64_t i = 0; i < count; ++i) to[i] = round_scalar(format, from[i]);
  });
}

void round_to_bfloat16(ThreadPool& pool, std::int64_t n, const float* x, float* y) {
  const auto range = &HWY_DYNAMIC_DISPATCH(bfloat16_range);
  parallel_ranges(pool, n, kChunkElements, [&](std::int64_t begin, std::int64_t end) {
    range(end - begin, x + begin, y + begin);
  });
}

}  // namespace hone::kernels
#endif  // HWY_ONCE
