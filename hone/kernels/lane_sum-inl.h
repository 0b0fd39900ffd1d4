// Sums that have the same bits on every Highway target. They use a fixed number of lanes for any vector width: element
// i is added to lane i % lanes, in order, then the lanes are added in pairs:
// i and i + lanes / 2, then i and i + lanes / 4, ... So zeros after the elements change nothing.
//
//     const float sum = sum_of_terms(n, [&](std::int64_t i, auto part) HWY_ATTR {
//       return load(Floats(), x + i, part);
//     });
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

// Lanes of sums in float: enough to hide the latency of additions.
inline constexpr std::int64_t kFloatSumLanes = 64;

// A sum in kLanes lanes, held in vectors of D.
template <class D, std::int64_t kLanes>
class LaneSum {
 public:
  static constexpr std::int64_t kWidth = static_cast<std::int64_t>(hn::MaxLanes(D()));
  static constexpr std::int64_t kVectors = kLanes / kWidth;

  HWY_INLINE LaneSum() {
#pragma GCC unroll 8
    for (std::int64_t k = 0; k < kVectors; ++k) vectors_[k] = hn::Zero(D());
  }

  // Adds to vector k, as passed by `for_lanes`.
  HWY_INLINE void add(std::int64_t k, hn::Vec<D> terms) {
    vectors_[k] = hn::Add(vectors_[k], terms);
  }

  HWY_INLINE hn::TFromD<D> total() const { return sum_of_halves(D(), folded<1>(0)); }

 private:
  // Returns vector k after folding kVectors vectors to kCount.
  template <std::int64_t kCount>
  HWY_INLINE hn::Vec<D> folded(std::int64_t k) const {
    if constexpr (kCount == kVectors) {
      return vectors_[k];
    } else {
      return hn::Add(folded<2 * kCount>(k), folded<2 * kCount>(k + kCount));
    }
  }

  template <class Tag>
  static HWY_INLINE hn::TFromD<Tag> sum_of_halves(Tag, hn::Vec<Tag> lanes) {
    if constexpr (hn::MaxLanes(Tag()) == 1) {
      return hn::GetLane(lanes);
    } else {
      const hn::Half<Tag> half;
      return sum_of_halves(half, hn::Add(hn::LowerHalf(half, lanes), hn::UpperHalf(half, lanes)));
    }
  }

  hn::Vec<D> vectors_[kVectors];
};

// Calls body(i, part, k) for the vectors below n, in order; their elements belong to vector k of a sum
// in kLanes lanes.
template <std::int64_t kLanes, class D, class Body>
HWY_INLINE void for_lanes(D, std::int64_t n, Body&& body) {
  constexpr auto kWidth = static_cast<std::int64_t>(hn::MaxLanes(D()));
  std::int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
#pragma GCC unroll 8
    for (std::int64_t k = 0; k < kLanes / kWidth; ++k) body(i + k * kWidth, Whole{}, k);
  }
#pragma GCC unroll 8
  for (std::int64_t k = 0; k < kLanes / kWidth; ++k, i += kWidth) {
    if (i + kWidth > n) {
      if (i < n) body(i, Partial{n - i}, k);
      break;
    }
    body(i, Whole{}, k);
  }
}

// Returns the sum of term(i, part), vectors of Floats that are zero in missing lanes, over the elements below n.
template <class Term>
HWY_INLINE float sum_of_terms(std::int64_t n, Term&& term) {
  LaneSum<Floats, kFloatSumLanes> sum;
  for_lanes<kFloatSumLanes>(Floats(), n, [&](std::int64_t i, auto part, std::int64_t k) HWY_ATTR {
    sum.add(k, term(i, part));
  });
  return sum.total();
}

// The same in double with kSumLanes lanes; terms are vectors of HalfFloats, with any values in missing lanes.
template <class Term>
HWY_INLINE double sum_in_doubles(std::int64_t n, Term&& term) {
  const HalfFloats d;
  LaneSum<Doubles, kSumLanes> sum;
  for_lanes<kSumLanes>(d, n, [&](std::int64_t i, auto part, std::int64_t k) HWY_ATTR {
    sum.add(k, hn::PromoteTo(Doubles(), existing(d, term(i, part), part)));
  });
  return sum.total();
}

// Returns the number of existing lanes that are true.
template <class M>
HWY_INLINE std::int64_t count_of(M mask, Whole) {
  return static_cast<std::int64_t>(hn::CountTrue(HalfFloats(), mask));
}
template <class M>
HWY_INLINE std::int64_t count_of(M mask, Partial part) {
  const auto exists = existing_lanes(HalfFloats(), part);
  return static_cast<std::int64_t>(hn::CountTrue(HalfFloats(), hn::And(mask, exists)));
}

}  // namespace HWY_NAMESPACE
}  // namespace hone::kernels
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
