// Loops over float arrays in whole vectors with one partial vector at the end, compiled once per
// Highway target.
//
//     for_vectors(d, n, [&](std::int64_t i, auto part) HWY_ATTR {
//       store(hn::Abs(load(d, x + i, part)), d, y + i, part);
//     });
//
// `part` says which lanes exist: all of them (Whole) or the first few (Partial).
#if defined(HONE_KERNELS_VECTOR_LOOP_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HONE_KERNELS_VECTOR_LOOP_INL_H_
#undef HONE_KERNELS_VECTOR_LOOP_INL_H_
#else
#define HONE_KERNELS_VECTOR_LOOP_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>
#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace hone::kernels {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;

struct Whole {};
struct Partial {
  std::int64_t lanes;
};

template <class D>
HWY_INLINE hn::Vec<D> load(D d, const hn::TFromD<D>* from, Whole) {
  return hn::LoadU(d, from);
}

// Missing lanes are zero. Never reads beyond them: a masked load may, where the target has none.
template <class D>
HWY_INLINE hn::Vec<D> load(D d, const hn::TFromD<D>* from, Partial part) {
  HWY_ALIGN hn::TFromD<D> lanes[hn::MaxLanes(D())] = {};
  std::memcpy(lanes, from, static_cast<std::size_t>(part.lanes) * sizeof(lanes[0]));
  return hn::Load(d, lanes);
}

template <class V, class D>
HWY_INLINE void store(V value, D d, hn::TFromD<D>* to, Whole) {
  hn::StoreU(value, d, to);
}

template <class V, class D>
HWY_INLINE void store(V value, D d, hn::TFromD<D>* to, Partial part) {
  HWY_ALIGN hn::TFromD<D> lanes[hn::MaxLanes(D())];
  hn::Store(value, d, lanes);
  std::memcpy(to, lanes, static_cast<std::size_t>(part.lanes) * sizeof(lanes[0]));
}

// The value with missing lanes replaced by zero.
template <class D>
HWY_INLINE hn::Vec<D> existing(D, hn::Vec<D> value, Whole) {
  return value;
}
template <class D>
HWY_INLINE hn::Vec<D> existing(D d, hn::Vec<D> value, Partial part) {
  return hn::IfThenElseZero(hn::FirstN(d, static_cast<std::size_t>(part.lanes)), value);
}

// The value with missing lanes replaced by `filler`.
template <class D>
HWY_INLINE hn::Vec<D> existing_or(D, hn::Vec<D> value, hn::Vec<D>, Whole) {
  return value;
}
template <class D>
HWY_INLINE hn::Vec<D> existing_or(D d, hn::Vec<D> value, hn::Vec<D> filler, Partial part) {
  return hn::IfThenElse(hn::FirstN(d, static_cast<std::size_t>(part.lanes)), value, filler);
}

// Calls body(i, part) for i = 0, lanes, 2 lanes, ... below n.
template <class D, class Body>
HWY_INLINE void for_vectors(D d, std::int64_t n, Body&& body) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes) body(i, Whole{});
  if (i < n) body(i, Partial{n - i});
}

// Sum of term(i, part) over the vectors below n. Terms must be zero in missing lanes. Every lane
// adds up a quarter of its terms at a time, so the error is that of n / (4 lanes) additions in a
// row.
template <class D, class Term>
HWY_INLINE float sum_of_terms(D d, std::int64_t n, Term&& term) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  auto sum0 = hn::Zero(d);
  auto sum1 = hn::Zero(d);
  auto sum2 = hn::Zero(d);
  auto sum3 = hn::Zero(d);
  std::int64_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    sum0 = hn::Add(sum0, term(i, Whole{}));
    sum1 = hn::Add(sum1, term(i + lanes, Whole{}));
    sum2 = hn::Add(sum2, term(i + 2 * lanes, Whole{}));
    sum3 = hn::Add(sum3, term(i + 3 * lanes, Whole{}));
  }
  for (; i + lanes <= n; i += lanes) sum0 = hn::Add(sum0, term(i, Whole{}));
  if (i < n) sum1 = hn::Add(sum1, term(i, Partial{n - i}));
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(sum0, sum1), hn::Add(sum2, sum3))));
}

}  // namespace HWY_NAMESPACE
}  // namespace hone::kernels
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
