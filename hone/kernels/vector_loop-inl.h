// Loops over float arrays in whole vectors with one partial vector at the end, compiled once per
// Highway target.
//
//     for_vectors(d, n, [&](std::int64_t i, auto part) HWY_ATTR {
//       store(hn::Abs(load(d, x + i, part)), d, y + i, part);
//     });
//
// `part` tells which lanes exist: all of them (Whole) or the first few (Partial).
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
// Floats per vector.
inline constexpr std::int64_t kLanes = static_cast<std::int64_t>(hn::MaxLanes(Floats()));

struct Whole {};
struct Partial {
  std::int64_t lanes;
};

template <class D>
HWY_INLINE hn::Vec<D> load(D d, const hn::TFromD<D>* from, Whole) {
  return hn::LoadU(d, from);
}

// Whether masked loads and stores do not access the memory of missing lanes: with AVX2 those of 32 and 64 bits, with
// AVX-512 all.
template <class D>
inline constexpr bool kMasksMemory = HWY_MEM_OPS_MIGHT_FAULT == 0 ||
                                     (HWY_TARGET == HWY_AVX2 && sizeof(hn::TFromD<D>) >= 4);

template <class D>
HWY_INLINE hn::Mask<D> existing_lanes(D d, Partial part) {
  return hn::FirstN(d, static_cast<std::size_t>(part.lanes));
}

// Missing lanes are zero, and their memory is not accessed.
template <class D>
HWY_INLINE hn::Vec<D> load(D d, const hn::TFromD<D>* from, Partial part) {
  if constexpr (kMasksMemory<D>) {
    return hn::MaskedLoad(existing_lanes(d, part), d, from);
  } else {
    HWY_ALIGN hn::TFromD<D> lanes[hn::MaxLanes(D())] = {};
    std::memcpy(lanes, from, static_cast<std::size_t>(part.lanes) * sizeof(lanes[0]));
    return hn::Load(d, lanes);
  }
}

template <class V, class D>
HWY_INLINE void store(V value, D d, hn::TFromD<D>* to, Whole) {
  hn::StoreU(value, d, to);
}

template <class V, class D>
HWY_INLINE void store(V value, D d, hn::TFromD<D>* to, Partial part) {
  if constexpr (kMasksMemory<D>) {
    hn::BlendedStore(value, existing_lanes(d, part), d, to);
  } else {
    HWY_ALIGN hn::TFromD<D> lanes[hn::MaxLanes(D())];
    hn::Store(value, d, lanes);
    std::memcpy(to, lanes, static_cast<std::size_t>(part.lanes) * sizeof(lanes[0]));
  }
}

// Returns the value with missing lanes replaced by zero.
template <class D>
HWY_INLINE hn::Vec<D> existing(D, hn::Vec<D> value, Whole) {
  return value;
}
template <class D>
HWY_INLINE hn::Vec<D> existing(D d, hn::Vec<D> value, Partial part) {
  return hn::IfThenElseZero(existing_lanes(d, part), value);
}

// Returns the value with missing lanes replaced by `filler`.
template <class D>
HWY_INLINE hn::Vec<D> existing_or(D, hn::Vec<D> value, hn::Vec<D>, Whole) {
  return value;
}
template <class D>
HWY_INLINE hn::Vec<D> existing_or(D d, hn::Vec<D> value, hn::Vec<D> filler, Partial part) {
  return hn::IfThenElse(existing_lanes(d, part), value, filler);
}

// Calls body(i, part) for i = 0, lanes, 2 lanes, ... below n.
template <class D, class Body>
HWY_INLINE void for_vectors(D d, std::int64_t n, Body&& body) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes) body(i, Whole{});
  if (i < n) body(i, Partial{n - i});
}

}  // namespace HWY_NAMESPACE
}  // namespace hone::kernels
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
