// The maximum and the exponentials of a row, for softmax and cross entropy. Compiled once per Highway target.
#if defined(HONE_KERNELS_SOFTMAX_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HONE_KERNELS_SOFTMAX_INL_H_
#undef HONE_KERNELS_SOFTMAX_INL_H_
#else
#define HONE_KERNELS_SOFTMAX_INL_H_
#endif

#include <hwy/highway.h>

#include <limits>

#include "hone/kernels/lane_sum-inl.h"
#include "hone/kernels/vector_loop-inl.h"
// Must follow vector_loop-inl.h, whose names it uses.
#include "hone/kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hone::kernels {
namespace HWY_NAMESPACE {

// Returns the largest of n values; unspecified if one of them is NaN.
HWY_INLINE float row_maximum(std::int64_t n, const float* x) {
  const Floats d;
  const auto lowest = hn::Set(d, -std::numeric_limits<float>::infinity());
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  auto even = lowest;
  auto odd = lowest;
  std::int64_t i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    even = hn::Max(even, load(d, x + i, Whole{}));
    odd = hn::Max(odd, load(d, x + i + lanes, Whole{}));
  }
  for_vectors(d, n - i, [&](std::int64_t j, auto part) HWY_ATTR {
    even = hn::Max(even, existing_or(d, load(d, x + i + j, part), lowest, part));
  });
  return hn::GetLane(hn::MaxOfLanes(d, hn::Max(even, odd)));
}

// Returns the sum of e^(x - maximum), and calls `each(i, part, term)` for each vector of terms.
template <class Each>
HWY_INLINE float sum_of_exponentials(std::int64_t n, const float* x, float maximum, Each&& each) {
  const Floats d;
  const auto shift = hn::Set(d, maximum);
  return sum_of_terms(n, [&](std::int64_t i, auto part) HWY_ATTR {
    const auto term = exp_of_nonpositive(d, hn::Sub(load(d, x + i, part), shift));
    each(i, part, term);
    return existing(d, term, part);
  });
}

HWY_INLINE void scale_row(std::int64_t n, float factor, float* y) {
  const Floats d;
  for_vectors(d, n, [&](std::int64_t i, auto part) HWY_ATTR {
    store(hn::Mul(load(d, y + i, part), hn::Set(d, factor)), d, y + i, part);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace hone::kernels
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
