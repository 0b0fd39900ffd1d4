// exp, log1p, erf and tanh of float vectors, compiled once per Highway target.
//
// The coefficients were fitted in 40-digit arithmetic for least maximal relative error; most of the total error is due
// to rounding.
#if defined(HONE_KERNELS_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HONE_KERNELS_MATH_INL_H_
#undef HONE_KERNELS_MATH_INL_H_
#else
#define HONE_KERNELS_MATH_INL_H_
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace hone::kernels {
namespace HWY_NAMESPACE {

// Returns c[0] + c[1] t + c[2] t^2 + ...
template <class D, std::size_t kTerms>
HWY_INLINE hn::Vec<D> polynomial(D d, hn::Vec<D> t, const float (&c)[kTerms]) {
  auto sum = hn::Set(d, c[kTerms - 1]);
#pragma GCC unroll 8
  for (std::size_t i = kTerms - 1; i > 0; --i) sum = hn::MulAdd(sum, t, hn::Set(d, c[i - 1]));
  return sum;
}

// Clamps `x` to [-limit, limit]. NaN stays NaN, because Min and Max of x86 then return their second operand.
template <class D>
HWY_INLINE hn::Vec<D> clamp_magnitude(D d, hn::Vec<D> x, float limit) {
  return hn::Max(hn::Set(d, -limit), hn::Min(hn::Set(d, limit), x));
}

// Returns e^x for x <= 0, within about 1 ulp; results below 2^-125 are 0. NaN stays NaN.
template <class D>
HWY_INLINE hn::Vec<D> exp_of_nonpositive(D d, hn::Vec<D> x) {
  // e^x = 2^n e^r with n = round(x / ln 2) and |r| <= ln 2 / 2; ln 2 is split so that n times its
  // high part is exact. e^r = 1 + r + r^2 q(r), relative error 3.2e-9.
  constexpr float kLog2E = 1.44269504f;
  constexpr float kLn2High = 0.693359375f;
  constexpr float kLn2Low = -2.12194440e-4f;
  constexpr float kRound =
      0x1.8p23f;  // adding it leaves an integer in the low bits of the mantissa
  constexpr float kMin = -87.0f;
  static constexpr float q[] = {4.99999933e-1f, 1.66665190e-1f, 4.16684067e-2f, 8.36891842e-3f,
                                1.38142526e-3f};
  const hn::RebindToSigned<D> di;
  const auto shifted = hn::MulAdd(x, hn::Set(d, kLog2E), hn::Set(d, kRound));
  const auto n = hn::Sub(shifted, hn::Set(d, kRound));
  auto r = hn::NegMulAdd(n, hn::Set(d, kLn2High), x);
  r = hn::NegMulAdd(n, hn::Set(d, kLn2Low), r);
  const auto mantissa =
      hn::Add(hn::MulAdd(polynomial(d, r, q), hn::Mul(r, r), r), hn::Set(d, 1.0f));
  const auto exponent = hn::ShiftLeft<23>(hn::BitCast(di, shifted));
  const auto result = hn::BitCast(d, hn::Add(hn::BitCast(di, mantissa), exponent));
  // Max returns its second operand for NaN.
  return hn::IfThenElse(hn::Ge(x, hn::Set(d, kMin)), result, hn::Max(hn::Zero(d), x));
}

// Returns log(1 + t) for t in [0, 1], within about 2 ulp. NaN stays NaN.
template <class D>
HWY_INLINE hn::Vec<D> log1p_of_unit(D d, hn::Vec<D> t) {
  // 2 atanh(s) = 2 s q(s^2) with s = t / (2 + t) <= 1/3; relative error of q 4.0e-9.
  static constexpr float q[] = {1.0f, 3.33331573e-1f, 2.00124551e-1f, 1.39803014e-1f,
                                1.40891675e-1f};
  const auto s = hn::Div(t, hn::Add(hn::Set(d, 2.0f), t));
  return hn::Mul(hn::Add(s, s), polynomial(d, hn::Mul(s, s), q));
}

// erf(x) = x P(x^2) / Q(x^2) for |x| <= 3.9192, where it rounds to 1. Fitted to 5.3e-8; relative error below 4e-7.
template <class D>
HWY_INLINE hn::Vec<D> erf(D d, hn::Vec<D> x) {
  static constexpr float p[] = {1.12837911f,    1.99760698e-1f,  5.05509305e-2f, 3.69426276e-3f,
                                1.41649618e-4f, -1.95662358e-6f, 1.99208309e-8f};
  static constexpr float q[] = {1.0f, 5.10365002e-1f, 1.14930024e-1f, 1.43386681e-2f,
                                9.54174163e-4f};
  const auto c = clamp_magnitude(d, x, 3.9192f);
  const auto t = hn::Mul(c, c);
  const auto value = hn::Div(hn::Mul(c, polynomial(d, t, p)), polynomial(d, t, q));
  return clamp_magnitude(d, value, 1.0f);
}

// tanh(x) = x P(x^2) / Q(x^2) for |x| <= 9.011, where it rounds to 1. Fitted to 1.3e-9; relative error below 4e-7.
template <class D>
HWY_INLINE hn::Vec<D> tanh(D d, hn::Vec<D> x) {
  static constexpr float p[] = {9.99999999e-1f, 1.36803206e-1f, 3.86883519e-3f,
                                2.80176568e-5f, 3.06094015e-8f, -1.22214370e-11f};
  static constexpr float q[] = {1.0f, 4.70136527e-1f, 2.72476978e-2f, 3.93952429e-4f,
                                1.28807711e-6f};
  const auto c = clamp_magnitude(d, x, 9.011f);
  const auto t = hn::Mul(c, c);
  const auto value = hn::Div(hn::Mul(c, polynomial(d, t, p)), polynomial(d, t, q));
  return clamp_magnitude(d, value, 1.0f);
}

}  // namespace HWY_NAMESPACE
}  // namespace hone::kernels
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
