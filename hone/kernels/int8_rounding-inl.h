// Rounds floats to the codes of `Int8Rows`. Compiled once per Highway target.
#if defined(HONE_KERNELS_INT8_ROUNDING_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HONE_KERNELS_INT8_ROUNDING_INL_H_
#undef HONE_KERNELS_INT8_ROUNDING_INL_H_
#else
#define HONE_KERNELS_INT8_ROUNDING_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>

#include "hone/kernels/int8_rows.h"
#include "hone/kernels/vector_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hone::kernels {
namespace HWY_NAMESPACE {

using Words = hn::RebindToSigned<Floats>;

// Sets codes = clamp(round(x factor)), writing whole vectors. Returns the sums of codes in lanes.
HWY_INLINE hn::Vec<Words> round_run(std::int64_t n, const float* x, float factor, float bound,
                                    std::int8_t* codes) {
  const Floats d;
  const hn::Rebind<std::int8_t, Floats> bytes;
  const auto by = hn::Set(d, factor);
  const auto highest = hn::Set(d, bound);
  const auto lowest = hn::Set(d, -bound);
  // Adding it leaves an integer in the low bits of the mantissa.
  const auto shift = hn::Set(d, 0x1.8p23f);
  auto sum = hn::Zero(Words());
  for_vectors(d, n, [&](std::int64_t i, auto part) HWY_ATTR {
    const auto value = hn::Mul(load(d, x + i, part), by);
    // The bound is an integer, so clamping and rounding commute. Min of x86 returns its second operand for NaN, so
    // codes are valid for any x.
    const auto rounded = hn::Add(hn::Max(hn::Min(value, highest), lowest), shift);
    const auto code = hn::Sub(hn::BitCast(Words(), rounded), hn::Set(Words(), kSumOrigin));
    sum = hn::Add(sum, code);
    hn::StoreU(hn::DemoteTo(bytes, code), bytes, codes + i);
  });
  return sum;
}

}  // namespace HWY_NAMESPACE
}  // namespace hone::kernels
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
