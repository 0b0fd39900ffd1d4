// Sums in double that have the same bits on every Highway target: always in 16 lanes, element i in
// lane i % 16, whatever the width of a vector is.
#if defined(HONE_KERNELS_LANE_SUM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HONE_KERNELS_LANE_SUM_INL_H_
#undef HONE_KERNELS_LANE_SUM_INL_H_
#else
#define HONE_KERNELS_LANE_SUM_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>

#include "hone/kernels/magnitude.h"
#include "hone/kernels/vector_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hone::kernels {
namespace HWY_NAMESPACE {

using Doubles = hn::ScalableTag<double>;
using HalfFloats = hn::Rebind<float, Doubles>;  // as many lanes as a vector of doubles

// How many of the lanes that exist are true.
template <class M>
HWY_INLINE std::int64_t count_of(M mask, Whole) {
  return static_cast<std::int64_t>(hn::CountTrue(HalfFloats(), mask));
}
template <class M>
HWY_INLINE std::int64_t count_of(M mask, Partial part) {
  const auto exists = hn::FirstN(HalfFloats(), static_cast<std::size_t>(part.lanes));
  return static_cast<std::int64_t>(hn::CountTrue(HalfFloats(), hn::And(mask, exists)));
}

// The lanes added in pairs: lane i and i + 8, then i and i + 4, ...
inline double combined_lanes(double* lanes) {
  for (std::int64_t width = kSumLanes / 2; width > 0; width /= 2)
    for (std::int64_t i = 0; i < width; ++i) lanes[i] += lanes[i + width];
  return lanes[0];
}

// Sum of term(i, part), vectors of HalfFloats, over the elements below n.
template <class Term>
HWY_INLINE double sum_in_lanes(std::int64_t n, Term&& term) {
  const Doubles d;
  constexpr auto kWidth = static_cast<std::int64_t>(hn::MaxLanes(Doubles()));
  constexpr std::int64_t kVectors = kSumLanes / kWidth;
  hn::Vec<Doubles> sums[kVectors];
  for (auto& sum : sums) sum = hn::Zero(d);
  std::int64_t i = 0;
  for (; i + kSumLanes <= n; i += kSumLanes) {
    for (std::int64_t k = 0; k < kVectors; ++k)
      sums[k] = hn::Add(sums[k], hn::PromoteTo(d, term(i + k * kWidth, Whole{})));
  }
  for (std::int64_t k = 0; k < kVectors && i < n; ++k, i += kWidth) {
    if (i + kWidth <= n) {
      sums[k] = hn::Add(sums[k], hn::PromoteTo(d, term(i, Whole{})));
    } else {
      const Partial part{n - i};
      sums[k] = hn::Add(sums[k], hn::PromoteTo(d, existing(HalfFloats(), term(i, part), part)));
    }
  }
  HWY_ALIGN double lanes[kSumLanes];
  for (std::int64_t k = 0; k < kVectors; ++k) hn::Store(sums[k], d, lanes + k * kWidth);
  return combined_lanes(lanes);
}

}  // namespace HWY_NAMESPACE
}  // namespace hone::kernels
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
