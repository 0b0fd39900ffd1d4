#include "hone/kernels/quantize.h"

#include <algorithm>

#include "hone/base/error.h"
#include "hone/kernels/grain.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hone/kernels/quantize.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "hone/kernels/vector_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hone::kernels {
namespace HWY_NAMESPACE {
namespace {

using Ints = hn::RebindToSigned<Floats>;
using SignedBytes = hn::Rebind<std::int8_t, Floats>;
using IntVec = hn::Vec<Ints>;
using FloatVec = hn::Vec<Floats>;

constexpr auto kLanes = static_cast<std::int64_t>(hn::MaxLanes(Floats()));

// Returns |x| as bits; for `mase`, after rounding it to bfloat16, with NaN replaced by infinity.
template <MxintDialect kDialect>
HWY_INLINE IntVec magnitude(FloatVec x) {
  const Ints d;
  const IntVec bits = hn::And(hn::BitCast(d, x), hn::Set(d, 0x7fffffff));
  if constexpr (kDialect == MxintDialect::ocp) return bits;
  const IntVec number = hn::Min(bits, hn::Set(d, 0x7f800000));
  const IntVec odd = hn::And(hn::ShiftRight<16>(number), hn::Set(d, 1));
  const IntVec rounded = hn::And(hn::Add(hn::Add(number, hn::Set(d, 0x7fff)), odd),
                                 hn::Set(d, static_cast<std::int32_t>(0xffff0000)));
  return hn::IfThenZeroElse(hn::Lt(rounded, hn::Set(d, 0x00800000)), rounded);
}

template <MxintDialect kDialect>
HWY_INLINE int group_scale(std::int64_t count, const float* x) {
  const Ints d;
  IntVec largest = hn::Zero(d);
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
    largest = hn::Max(largest, magnitude<kDialect>(load(Floats(), x + i, Whole{})));
  if (i < count)
    largest = hn::Max(largest, magnitude<kDialect>(load(Floats(), x + i, Partial{count - i})));
  return hn::GetLane(hn::MaxOfLanes(d, largest)) >> 23;
}

// Two factors whose product is 2^(133 - E), which overflows a single float if E < 6. Arbitrary for E = 255.
struct Factors {
  FloatVec first, second;
};

HWY_INLINE Factors factors_of(IntVec scale) {
  const Ints d;
  const Floats df;
  const auto is_low = hn::Lt(scale, hn::Set(d, 6));
  const IntVec field = hn::Sub(hn::IfThenElse(is_low, hn::Set(d, 133), hn::Set(d, 260)), scale);
  return {hn::IfThenElse(hn::RebindMask(df, is_low), hn::Set(df, 0x1p127f), hn::Set(df, 1.0f)),
          hn::BitCast(df, hn::ShiftLeft<23>(field))};
}

// The same for one scale, in scalar arithmetic, which is faster.
HWY_INLINE Factors factors_of(int scale) {
  const Floats d;
  const bool is_low = scale < 6;
  return {hn::Set(d, is_low ? 0x1p127f : 1.0f),
          hn::BitCast(d, hn::Set(Ints(), ((is_low ? 133 : 260) - scale) << 23))};
}

template <MxintDialect kDialect>
HWY_INLINE IntVec mantissas(FloatVec x, const Factors& factors) {
  const Ints d;
  const FloatVec relative = hn::BitCast(Floats(), magnitude<kDialect>(x));
  const FloatVec steps = hn::Mul(hn::Mul(relative, factors.first), factors.second);
  const IntVec whole = hn::Min(hn::NearestInt(steps), hn::Set(d, 127));
  const auto is_negative = hn::Lt(hn::BitCast(d, x), hn::Zero(d));
  return hn::IfThenElse(is_negative, hn::Neg(whole), whole);
}

template <class Part>
HWY_INLINE void put(IntVec mantissa, std::int8_t* codes, Part part) {
  store(hn::DemoteTo(SignedBytes(), mantissa), SignedBytes(), codes, part);
}

template <MxintDialect kDialect>
HWY_INLINE void quantize_group(std::int64_t count, const float* x, std::int8_t* codes,
                               std::uint8_t* scale) {
  const Floats d;
  const int exponent = group_scale<kDialect>(count, x);
  *scale = static_cast<std::uint8_t>(exponent);
  if (exponent == 255) {
    std::fill(codes, codes + count, std::int8_t{0});
    return;
  }
  const Factors factors = factors_of(exponent);
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
    put(mantissas<kDialect>(load(d, x + i, Whole{}), factors), codes + i, Whole{});
  if (i < count) {
    const Partial part{count - i};
    put(mantissas<kDialect>(load(d, x + i, part), factors), codes + i, part);
  }
}

// Quantizes groups that are smaller than a vector, a whole vector at a time. Returns the number of elements in whole
// vectors.
template <MxintDialect kDialect>
HWY_INLINE std::int64_t quantize_small_groups(std::int64_t count, std::int64_t group,
                                              const float* x, std::int8_t* codes,
                                              std::uint8_t* scales) {
  const Ints d;
  // Indices of the lanes at distances 1, 2, 4, and so on within a group, for the maximum of pairs, of pairs of pairs,
  // and so on.
  alignas(64) std::int32_t others[3][kLanes];
  int steps = 0;
  for (std::int64_t distance = 1; distance < group; distance *= 2, ++steps)
    for (std::int64_t i = 0; i < kLanes; ++i)
      others[steps][i] = static_cast<std::int32_t>(i ^ distance);
  alignas(64) std::int32_t scale_of_lane[kLanes];
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    const FloatVec values = load(Floats(), x + i, Whole{});
    IntVec largest = magnitude<kDialect>(values);
    for (int step = 0; step < steps; ++step) {
      const auto other = hn::IndicesFromVec(d, hn::Load(d, others[step]));
      largest = hn::Max(largest, hn::TableLookupLanes(largest, other));
    }
    const IntVec scale = hn::ShiftRight<23>(largest);
    const IntVec mantissa = mantissas<kDialect>(values, factors_of(scale));
    put(hn::IfThenZeroElse(hn::Eq(scale, hn::Set(d, 255)), mantissa), codes + i, Whole{});
    hn::Store(scale, d, scale_of_lane);
    for (std::int64_t lane = 0; lane < kLanes; lane += group)
      *scales++ = static_cast<std::uint8_t>(scale_of_lane[lane]);
  }
  return i;
}

template <MxintDialect kDialect>
HWY_INLINE void quantize_groups(std::int64_t count, std::int64_t group, const float* x,
                                std::int8_t* codes, std::uint8_t* scales) {
  std::int64_t i = 0;
  if (group < kLanes && kLanes % group == 0)
    i = quantize_small_groups<kDialect>(count, group, x, codes, scales);
  for (; i < count; i += group)
    quantize_group<kDialect>(std::min(group, count - i), x + i, codes + i, scales + i / group);
}

void quantize_range(std::int64_t count, std::int64_t group, MxintDialect dialect, const float* x,
                    std::uint8_t* codes, std::uint8_t* scales) {
  auto* mantissas = reinterpret_cast<std::int8_t*>(codes);
  if (dialect == MxintDialect::mase)
    return quantize_groups<MxintDialect::mase>(count, group, x, mantissas, scales);
  quantize_groups<MxintDialect::ocp>(count, group, x, mantissas, scales);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace hone::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hone::kernels {
namespace {

HWY_EXPORT(quantize_range);

}  // namespace

void quantize_mxint8(ThreadPool& pool, std::int64_t count, std::int64_t group, MxintDialect dialect,
                     const float* x, std::uint8_t* codes, std::uint8_t* scales) {
  HONE_ASSERT(group >= 1 && count >= 0, "{} elements in groups of {}", count, group);
  const std::int64_t groups_per_chunk = rows_per_chunk(group);
  parallel_ranges(pool, count / group + (count % group != 0 ? 1 : 0), groups_per_chunk,
                  [&](std::int64_t begin, std::int64_t end) {
                    const std::int64_t first = begin * group;
                    const std::int64_t elements = std::min(count, end * group) - first;
                    HWY_DYNAMIC_DISPATCH(quantize_range)
                    (elements, group, dialect, x + first, codes + first, scales + begin);
                  });
}

}  // namespace hone::kernels
#endif  // HWY_ONCE
