// Activations of float vectors, compiled once per Highway target. NaN stays NaN.
#if defined(HONE_KERNELS_ACTIVATION_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HONE_KERNELS_ACTIVATION_INL_H_
#undef HONE_KERNELS_ACTIVATION_INL_H_
#else
#define HONE_KERNELS_ACTIVATION_INL_H_
#endif

#include <hwy/highway.h>

#include "hone/kernels/vector_loop-inl.h"
// Must follow vector_loop-inl.h, whose names it uses.
#include "hone/kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hone::kernels {
namespace HWY_NAMESPACE {

using FloatVector = hn::Vec<Floats>;

// Returns (1 + erf(x / sqrt 2)) / 2.
HWY_INLINE FloatVector normal_distribution(Floats d, FloatVector x) {
  const FloatVector half = hn::Set(d, 0.5f);
  return hn::MulAdd(half, erf(d, hn::Mul(x, hn::Set(d, 0.707106781f))), half);
}

// Returns tanh(sqrt(2/pi) (x + 0.044715 x^3)).
HWY_INLINE FloatVector tanh_of_gelu(Floats d, FloatVector x) {
  const FloatVector cube = hn::Mul(hn::Mul(x, x), x);
  return tanh(d, hn::Mul(hn::Set(d, 0.797884561f), hn::MulAdd(hn::Set(d, 0.044715f), cube, x)));
}

HWY_INLINE FloatVector gelu_erf_of(Floats d, FloatVector x) {
  return hn::Mul(x, normal_distribution(d, x));
}

HWY_INLINE FloatVector gelu_tanh_of(Floats d, FloatVector x) {
  const FloatVector half = hn::Mul(hn::Set(d, 0.5f), x);
  return hn::MulAdd(half, tanh_of_gelu(d, x), half);
}

HWY_INLINE FloatVector relu_of(Floats d, FloatVector x) { return hn::Max(hn::Zero(d), x); }

}  // namespace HWY_NAMESPACE
}  // namespace hone::kernels
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
