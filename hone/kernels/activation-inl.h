// Activation functions of float vectors, compiled once per Highway target: those of whole arrays
// (activation.cpp) and of what products have in registers give the same bits.
#if defined(HONE_KERNELS_ACTIVATION_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HONE_KERNELS_ACTIVATION_INL_H_
#undef HONE_KERNELS_ACTIVATION_INL_H_
#else
#define HONE_KERNELS_ACTIVATION_INL_H_
#endif

#include <hwy/highway.h>

#include "hone/kernels/vector_loop-inl.h"
// after the loops, whose names it uses
#include "hone/kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hone::kernels {
namespace HWY_NAMESPACE {

// (1 + erf(x / sqrt 2)) / 2
template <class D>
HWY_INLINE hn::Vec<D> normal_distribution(D d, hn::Vec<D> x) {
  const auto half = hn::Set(d, 0.5f);
  return hn::MulAdd(half, erf(d, hn::Mul(x, hn::Set(d, 0.707106781f))), half);
}

// tanh(sqrt(2/pi) (x + 0.044715 x^3))
template <class D>
HWY_INLINE hn::Vec<D> gelu_tanh_of(D d, hn::Vec<D> x) {
  const auto cube = hn::Mul(hn::Mul(x, x), x);
  return tanh(d, hn::Mul(hn::Set(d, 0.797884561f), hn::MulAdd(hn::Set(d, 0.044715f), cube, x)));
}

template <class D>
HWY_INLINE hn::Vec<D> gelu_erf(D d, hn::Vec<D> x) {
  return hn::Mul(x, normal_distribution(d, x));
}

template <class D>
HWY_INLINE hn::Vec<D> gelu_tanh(D d, hn::Vec<D> x) {
  const auto half = hn::Mul(hn::Set(d, 0.5f), x);
  return hn::MulAdd(half, gelu_tanh_of(d, x), half);
}

template <class D>
HWY_INLINE hn::Vec<D> relu(D d, hn::Vec<D> x) {
  return hn::Max(hn::Zero(d), x);
}

}  // namespace HWY_NAMESPACE
}  // namespace hone::kernels
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
