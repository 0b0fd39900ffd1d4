// The rounding of floats to the codes of `Int8Rows`, compiled once per Highway target; for all that makes such rows.
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

// codes = clamp(round(x factor)), in whole vectors. Returns their sums in lanes.
HWY_INLINE hn::Vec<Words> round_run(std::int64_t n, const float* x, float factor, float bound,
                                    std::int8_t* codes) {
  const Floats d;
  const hn::Rebind<std::int8_t, Floats> bytes;
  const auto by = hn::Set(d, factor);
  const auto highest = hn::Set(d, bound);
  const auto lowest = hn::Set(d, -bound);
  // adding it leaves an integer in the low bits of the mantissa
  const auto shift = hn::Set(d, 0x1.8p23f);
  auto sum = hn::Zero(Words());
  for_vectors(d, n, [&](std::int64_t i, auto part) HWY_ATTR {
    const auto value = hn::Mul(load(d, x + i, part), by);
    // the bound is whole, so rounding what it cuts down is cutting down what was rounded
    // Min of x86 returns its second operand for NaN, so that codes are codes whatever stands in x.
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
