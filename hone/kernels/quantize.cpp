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

// |x| as bits, by `mase` after rounding it to bfloat16. An infinity stands for NaN there.
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

// The mantissas of x by two factors whose product is 2^(133 - E), which a float alone cannot be where E < 6.
template <MxintDialect kDialect, class Part>
HWY_INLINE void put_mantissas(FloatVec x, FloatVec first, FloatVec second, std::int8_t* codes,
                              Part part) {
  const Ints d;
  const FloatVec steps =
      hn::Mul(hn::Mul(hn::BitCast(Floats(), magnitude<kDialect>(x)), first), second);
  const IntVec whole = hn::Min(hn::NearestInt(steps), hn::Set(d, 127));
  const auto is_negative = hn::Lt(hn::BitCast(d, x), hn::Zero(d));
  const IntVec mantissa = hn::IfThenElse(is_negative, hn::Neg(whole), whole);
  store(hn::DemoteTo(SignedBytes(), mantissa), SignedBytes(), codes, part);
}

template <MxintDialect kDialect>
HWY_INLINE void quantize_group(std::int64_t count, const float* x, std::int8_t* codes,
                               std::uint8_t* scale) {
  const int exponent = group_scale<kDialect>(count, x);
  *scale = static_cast<std::uint8_t>(exponent);
  if (exponent == 255) {
    std::fill(codes, codes + count, std::int8_t{0});
    return;
  }
  const Ints d;
  const bool is_low = exponent < 6;
  const FloatVec first = hn::Set(Floats(), is_low ? 0x1p127f : 1.0f);
  const FloatVec second =
      hn::BitCast(Floats(), hn::Set(d, ((is_low ? 133 : 260) - exponent) << 23));
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
    put_mantissas<kDialect>(load(Floats(), x + i, Whole{}), first, second, codes + i, Whole{});
  if (i < count) {
    const Partial part{count - i};
    put_mantissas<kDialect>(load(Floats(), x + i, part), first, second, codes + i, part);
  }
}

void quantize_range(std::int64_t count, std::int64_t group, MxintDialect dialect, const float* x,
                    std::uint8_t* codes, std::uint8_t* scales) {
  auto* mantissas = reinterpret_cast<std::int8_t*>(codes);
  for (std::int64_t i = 0; i < count; i += group, ++scales) {
    const std::int64_t here = std::min(group, count - i);
    if (dialect == MxintDialect::mase) {
      quantize_group<MxintDialect::mase>(here, x + i, mantissas + i, scales);
    } else {
      quantize_group<MxintDialect::ocp>(here, x + i, mantissas + i, scales);
    }
  }
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
