// Converts vectors of floats to bfloat16, and of bfloat16 and binary16 to floats. Compiled once per Highway target.
#if defined(HONE_KERNELS_HALF_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HONE_KERNELS_HALF_INL_H_
#undef HONE_KERNELS_HALF_INL_H_
#else
#define HONE_KERNELS_HALF_INL_H_
#endif

#include <hwy/highway.h>

#include "hone/kernels/vector_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hone::kernels {
namespace HWY_NAMESPACE {

using Bits = hn::RebindToUnsigned<Floats>;
using SignedBits = hn::RebindToSigned<Floats>;
using Halves = hn::Rebind<std::uint16_t, Floats>;
using BitsVec = hn::Vec<Bits>;

// Returns v + half of the last kept place - 1 + the bit of that place. Dropping kDropped bits then gives v rounded to
// nearest even.
template <int kDropped>
HWY_INLINE BitsVec biased_for_rounding(Bits d, BitsVec v) {
  const BitsVec odd = hn::And(hn::ShiftRight<kDropped>(v), hn::Set(d, 1u));
  return hn::Add(hn::Add(v, hn::Set(d, (1u << (kDropped - 1)) - 1u)), odd);
}

// Converts the bits of floats to those of bfloat16, to nearest, ties to even.
HWY_INLINE BitsVec to_bfloat16(Bits d, BitsVec v) {
  const auto is_nan = hn::Gt(hn::And(v, hn::Set(d, 0x7fffffffu)), hn::Set(d, 0x7f800000u));
  const BitsVec rounded = hn::ShiftRight<16>(biased_for_rounding<16>(d, v));
  return hn::IfThenElse(is_nan, hn::Or(hn::ShiftRight<16>(v), hn::Set(d, 0x40u)), rounded);
}

// Returns the bits of the float with the value of the 16 bits in the lower half of each lane.
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

// Loads a byte for every lane.
HWY_INLINE hn::Vec<SignedBits> widened(const std::uint8_t* bytes) {
  return hn::PromoteTo(SignedBits(), hn::LoadU(hn::Rebind<std::uint8_t, Floats>(), bytes));
}

// Loads float16 numbers as floats; their second bytes are `apart` bytes after the first.
HWY_INLINE hn::Vec<Floats> half_scales(const std::uint8_t* bytes, std::int64_t apart) {
  const auto both = hn::Or(widened(bytes), hn::ShiftLeft<8>(widened(bytes + apart)));
  return hn::BitCast(Floats(), from_float16(Bits(), hn::BitCast(Bits(), both)));
}

// Sets y[0, n) to the lower halves of narrow(bits of x[0, n)).
template <class Narrow>
HWY_INLINE void narrow_range(std::int64_t n, const float* x, std::uint16_t* y, Narrow&& narrow) {
  const Floats d;
  for_vectors(d, n, [&](std::int64_t i, auto part) HWY_ATTR {
    const BitsVec bits = narrow(Bits(), hn::BitCast(Bits(), load(d, x + i, part)));
    store(hn::DemoteTo(Halves(), hn::BitCast(SignedBits(), bits)), Halves(), y + i, part);
  });
}

// Sets y[0, n) to the floats with the bits widen(x[0, n)).
template <class Widen>
HWY_INLINE void widen_range(std::int64_t n, const std::uint16_t* x, float* y, Widen&& widen) {
  const Floats d;
  for_vectors(d, n, [&](std::int64_t i, auto part) HWY_ATTR {
    const BitsVec bits = hn::PromoteTo(Bits(), load(Halves(), x + i, part));
    store(hn::BitCast(d, widen(Bits(), bits)), d, y + i, part);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace hone::kernels
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
