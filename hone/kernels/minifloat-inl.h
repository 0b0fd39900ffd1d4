// Rounds vectors of floats to a `Minifloat`. Compiled once per Highway target.
//
//     const MinifloatRounder<Floats> round(d, format);
//     store(round(load(d, x + i, part)), d, y + i, part);
#if defined(HONE_KERNELS_MINIFLOAT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HONE_KERNELS_MINIFLOAT_INL_H_
#undef HONE_KERNELS_MINIFLOAT_INL_H_
#else
#define HONE_KERNELS_MINIFLOAT_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>
#include <limits>

#include "hone/kernels/minifloat.h"
#include "hone/kernels/vector_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hone::kernels {
namespace HWY_NAMESPACE {

// Rounds by adding and subtracting the power of two whose last place is the step of x's binade: the addition rounds to
// nearest even, the subtraction is exact. Requires a `vectorizable` format. kInfinite must equal the format's
// `infinite`.
//
// Cheap to construct: three broadcasts (and a few scalar operations).
template <class D, bool kInfinite = false>
class MinifloatRounder {
 public:
  using V = hn::Vec<D>;

  HWY_INLINE MinifloatRounder(D d, const Minifloat& format)
      : highest_(hn::Set(d, format.highest)),
        limit_(kInfinite ? hn::Set(d, 2 * format.highest) : highest_),
        smallest_exponent_(hn::Set(Bits(), (format.min_exponent + 127) << 23)),
        exponents_up_(hn::Set(Bits(), (23 - format.mantissa_bits) << 23)) {}

  HWY_INLINE V operator()(V x) const {
    const D d;
    // Min of x86 returns its second operand for NaN. An exponent of 255 then overflows into the sign of `rounder`, and
    // NaN stays NaN.
    const V magnitude = hn::Min(limit_, hn::Abs(x));
    const auto exponent = hn::And(hn::BitCast(Bits(), magnitude), hn::Set(Bits(), 0x7f800000));
    const V rounder = hn::BitCast(d, hn::Add(hn::Max(exponent, smallest_exponent_), exponents_up_));
    V rounded = hn::Sub(hn::Add(magnitude, rounder), rounder);
    if constexpr (kInfinite) {
      const V infinity = hn::Set(d, std::numeric_limits<float>::infinity());
      rounded = hn::IfThenElse(hn::Gt(rounded, highest_), infinity, rounded);
    }
    return hn::CopySignToAbs(rounded, x);
  }

 private:
  using Bits = hn::RebindToSigned<D>;

  V highest_;
  V limit_;  // above this, values cannot round down to `highest`
  hn::Vec<Bits> smallest_exponent_;
  hn::Vec<Bits> exponents_up_;
};

}  // namespace HWY_NAMESPACE
}  // namespace hone::kernels
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
