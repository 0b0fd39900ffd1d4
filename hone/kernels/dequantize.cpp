#include "hone/kernels/dequantize.h"

#include <hwy/cache_control.h>

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "hone/base/cpu.h"
#include "hone/base/error.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hone/kernels/dequantize.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "hone/kernels/vector_loop-inl.h"

#ifndef HONE_KERNELS_DEQUANTIZE_CONSTANTS_
#define HONE_KERNELS_DEQUANTIZE_CONSTANTS_
namespace hone::kernels {
// The widened scales of this many elements and their codes stay in the L1 cache.
inline constexpr std::int64_t kDequantizeBlock = 4096;
}  // namespace hone::kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace hone::kernels {
namespace HWY_NAMESPACE {
namespace {

using Ints = hn::RebindToSigned<Floats>;
using Bytes = hn::Rebind<std::uint8_t, Floats>;
using SignedBytes = hn::Rebind<std::int8_t, Floats>;
using Halves = hn::Rebind<std::uint16_t, Floats>;
using Words = hn::Simd<std::uint16_t, hn::MaxLanes(Floats()) / 2, 0>;
using Pairs = hn::Rebind<std::uint8_t, Words>;
using Bits = hn::ScalableTag<std::uint16_t>;
using BitsVec = hn::Vec<Bits>;
using IntVec = hn::Vec<Ints>;
using FloatVec = hn::Vec<Floats>;

constexpr int kMinPlainScale = 7;  // least plain scale, see `values`
constexpr auto kLanes = static_cast<std::int64_t>(hn::MaxLanes(Floats()));

// Converts lanes of elements to lanes of pairs of elements.
HWY_INLINE Whole half(Whole) { return {}; }
HWY_INLINE Partial half(Partial part) { return {(part.lanes + 1) / 2}; }

// Returns the mantissas of `part` of the elements from the even `i` on. Mantissas of 4 bits are returned times 16. That
// is the element of 8 bits that behaves the same with the same scale, including unit, fraction and lowest number.
template <int kBits, class Part>
HWY_INLINE IntVec mantissas(const std::uint8_t* codes, std::int64_t i, Part part) {
  if constexpr (kBits == 8) {
    return hn::PromoteTo(
        Ints(), load(SignedBytes(), reinterpret_cast<const std::int8_t*>(codes) + i, part));
  } else {
    // Spread the two codes of a byte to the upper halves of the two bytes of a word.
    const auto word = hn::PromoteTo(Words(), load(Pairs(), codes + i / 2, half(part)));
    const auto both =
        hn::And(hn::Or(hn::ShiftLeft<4>(word), hn::ShiftLeft<8>(word)), hn::Set(Words(), 0xf0f0));
    return hn::PromoteTo(Ints(), hn::BitCast(SignedBytes(), both));
  }
}

// Returns the values of mantissas with their scales. kPlain: no scale is 255 or one of 0 to 6, for which the power of
// the last place is a subnormal float; `scale` then holds the bits of that power.
template <MxintDialect kDialect, bool kPlain>
HWY_INLINE FloatVec values(IntVec mantissa, IntVec scale) {
  const Ints d;
  const Floats df;
  constexpr bool kMase = kDialect == MxintDialect::mase;
  IntVec m = mantissa;
  if constexpr (kMase)  // the lowest number has neither unit nor fraction
    m = hn::IfThenZeroElse(hn::Eq(m, hn::Set(d, -128)), m);
  const FloatVec whole = hn::ConvertTo(df, m);
  if constexpr (kPlain) {
    return hn::Mul(whole, hn::BitCast(df, scale));
  } else {
    // In two steps, so that no factor is subnormal; only the second step can give a subnormal value.
    const IntVec exponent = kMase ? hn::Max(scale, hn::Set(d, 1)) : scale;
    const auto is_low = hn::Lt(exponent, hn::Set(d, kMinPlainScale));
    const FloatVec first =
        hn::IfThenElse(hn::RebindMask(df, is_low), hn::Set(df, 0x1p-126f), hn::Set(df, 1.0f));
    const IntVec field = hn::Add(exponent, hn::IfThenElse(is_low, hn::Set(d, 120), hn::Set(d, -6)));
    FloatVec y = hn::Mul(hn::Mul(whole, first), hn::BitCast(df, hn::ShiftLeft<23>(field)));
    const auto is_highest = hn::Eq(scale, hn::Set(d, 255));
    y = hn::IfThenElse(hn::RebindMask(df, is_highest), hn::BitCast(df, hn::Set(d, 0x7fc00000)), y);
    if constexpr (!kMase) return y;
    // Elements with a unit bit are exactly the bits of `out`.
    const IntVec magnitude = hn::Abs(mantissa);
    const IntVec unit = hn::Set(d, 0x40);
    const IntVec fraction = hn::And(magnitude, hn::Sub(unit, hn::Set(d, 1)));
    const IntVec sign = hn::And(mantissa, hn::Set(d, static_cast<std::int32_t>(0x80000000)));
    const IntVec out =
        hn::Or(sign, hn::Or(hn::ShiftLeft<23>(scale), hn::ShiftLeft<23 - 6>(fraction)));
    const auto is_edge = hn::Or(is_highest, hn::Eq(scale, hn::Zero(d)));
    const auto has_unit = hn::Eq(hn::And(magnitude, unit), unit);
    return hn::IfThenElse(hn::RebindMask(df, hn::And(is_edge, has_unit)), hn::BitCast(df, out), y);
  }
}

// Returns the upper halves of floats, which are exact for floats that bfloat16 can represent.
HWY_INLINE BitsVec upper_halves(FloatVec low, FloatVec high) {
  const Bits d;
  return hn::ConcatOdd(d, hn::BitCast(d, high), hn::BitCast(d, low));
}

template <class D>
HWY_INLINE void put_vector(hn::Vec<D> value, D d, hn::TFromD<D>* y, bool non_temporal) {
  if (non_temporal) {
    hn::Stream(value, d, y);
  } else {
    hn::StoreU(value, d, y);
  }
}

HWY_INLINE void put_two(FloatVec low, FloatVec high, float* y, bool non_temporal) {
  put_vector(low, Floats(), y, non_temporal);
  put_vector(high, Floats(), y + kLanes, non_temporal);
}
HWY_INLINE void put_two(FloatVec low, FloatVec high, std::uint16_t* y, bool non_temporal) {
  put_vector(upper_halves(low, high), Bits(), y, non_temporal);
}

template <class Part>
HWY_INLINE void put_one(FloatVec value, float* y, Part part) {
  store(value, Floats(), y, part);
}
template <class Part>
HWY_INLINE void put_one(FloatVec value, std::uint16_t* y, Part part) {
  store(hn::LowerHalf(Halves(), upper_halves(value, value)), Halves(), y, part);
}

// The scales of the groups of a block, widened once for all its vectors.
struct BlockScales {
  // Padded with arbitrary values: whole vectors of scales are read, and one more than there are elements for.
  alignas(64) std::int32_t of_group[kDequantizeBlock + 3 * kLanes];
  bool plain;  // see `values`; if set, `of_group` holds powers, else scales
};

HWY_INLINE void widen_scales(const std::uint8_t* scales, std::int64_t count, BlockScales& to) {
  const Ints d;
  auto plain = hn::FirstN(d, static_cast<std::size_t>(kLanes));
  for_vectors(d, count, [&](std::int64_t i, auto part) HWY_ATTR {
    const IntVec scale = hn::PromoteTo(d, load(Bytes(), scales + i, part));
    const IntVec existing = existing_or(d, scale, hn::Set(d, kMinPlainScale), part);
    plain = hn::And(plain, hn::And(hn::Gt(existing, hn::Set(d, kMinPlainScale - 1)),
                                   hn::Lt(existing, hn::Set(d, 255))));
    hn::StoreU(scale, d, to.of_group + i);
  });
  to.plain = hn::AllTrue(d, plain);
  if (!to.plain) return;
  for_vectors(d, count, [&](std::int64_t i, auto) HWY_ATTR {
    const IntVec scale = hn::LoadU(d, to.of_group + i);
    hn::StoreU(hn::ShiftLeft<23>(hn::Sub(scale, hn::Set(d, 6))), d, to.of_group + i);
  });
}

// Decodes elements of a block into `y`, two vectors at a time where possible, since only whole vectors are stored
// non-temporally. Functions of a struct, because compilers do not always inline lambdas.
template <int kBits, MxintDialect kDialect, bool kPlain, class Value>
struct Decoder {
  const std::uint8_t* codes;  // of the first element
  Value* y;
  bool non_temporal;

  template <class Part>
  HWY_INLINE FloatVec decoded(std::int64_t i, IntVec scale, Part part) const {
    return values<kDialect, kPlain>(mantissas<kBits>(codes, i, part), scale);
  }
  HWY_INLINE void two(std::int64_t i, IntVec low, IntVec high) const {
    put_two(decoded(i, low, Whole{}), decoded(i + kLanes, high, Whole{}), y + i, non_temporal);
  }
  template <class Part>
  HWY_INLINE void one(std::int64_t i, IntVec scale, Part part) const {
    put_one(decoded(i, scale, part), y + i, part);
  }
  // Decodes the last elements, fewer than two vectors.
  HWY_INLINE void rest(std::int64_t i, std::int64_t count, IntVec low, IntVec high) const {
    if (i + kLanes <= count) {
      one(i, low, Whole{});
      if (i + kLanes < count) one(i + kLanes, high, Partial{count - i - kLanes});
    } else if (i < count) {
      one(i, low, Partial{count - i});
    }
  }
};

// Decodes groups of one vector each.
template <class Decoder>
HWY_INLINE void decode_vectors(const Decoder decoder, const std::int32_t* scales,
                               std::int64_t count) {
  const Ints d;
  std::int64_t i = 0;
  for (; i + 2 * kLanes <= count; i += 2 * kLanes, scales += 2)
    decoder.two(i, hn::Set(d, scales[0]), hn::Set(d, scales[1]));
  decoder.rest(i, count, hn::Set(d, scales[0]), hn::Set(d, scales[1]));
}

// Decodes groups of an even number of vectors; `left` elements remain of the first group. A single loop, since most
// groups have few vectors.
template <class Decoder>
HWY_INLINE void decode_runs(const Decoder decoder, std::int64_t group_elements,
                            const std::int32_t* scales, std::int64_t count, std::int64_t left) {
  const Ints d;
  std::int64_t i = 0;
  for (; i + 2 * kLanes <= count; i += 2 * kLanes) {
    const IntVec scale = hn::Set(d, *scales);  // NOLINT(clang-analyzer-*): a vector wrote it
    decoder.two(i, scale, scale);
    left -= 2 * kLanes;
    const bool is_done = left == 0;
    scales += is_done ? 1 : 0;
    left += is_done ? group_elements : 0;
  }
  decoder.rest(i, count, hn::Set(d, *scales), hn::Set(d, *scales));
}

// Sets begun[i] = i / group_elements. Divisions would take as long as decoding a block.
template <std::size_t kCount>
HWY_INLINE void count_begun(std::int64_t group_elements, std::int32_t (&begun)[kCount]) {
  std::int32_t groups = 0;
  std::int64_t place = 0;
  for (std::int32_t& here : begun) {
    here = groups;
    const bool is_last = ++place == group_elements;
    groups += is_last ? 1 : 0;
    place = is_last ? 0 : place;
  }
}

// Picks a scale for each element of consecutive vectors, for any groups.
class ScalePicker {
 public:
  // `place`: index of the first element in its group.
  HWY_INLINE ScalePicker(std::int64_t group_elements, const std::int32_t* scales,
                         std::int64_t place)
      : scales_(scales),
        place_(place),
        group_elements_(group_elements),
        far_(std::max<std::int64_t>(group_elements - kLanes, 0)),
        groups_per_vector_(kLanes / group_elements),
        places_per_vector_(kLanes % group_elements) {
    count_begun(group_elements - far_, begun_);
  }

  HWY_INLINE IntVec next() {
    const Ints d;
    const std::int64_t near = std::max<std::int64_t>(place_ - far_, 0);
    const auto pick = hn::IndicesFromVec(d, hn::LoadU(d, begun_ + near));
    const IntVec picked = hn::TableLookupLanes(hn::LoadU(d, scales_), pick);
    place_ += places_per_vector_;
    const bool is_beyond = place_ >= group_elements_;
    place_ -= is_beyond ? group_elements_ : 0;
    scales_ += groups_per_vector_ + (is_beyond ? 1 : 0);
    return picked;
  }

 private:
  const std::int32_t* scales_;
  std::int64_t place_;
  const std::int64_t group_elements_;
  const std::int64_t far_;  // elements of a group that are more than a vector from its end
  const std::int64_t groups_per_vector_;
  const std::int64_t places_per_vector_;
  std::int32_t begun_[2 * kLanes];  // groups begun since the first element that is not far
};

// The same if a vector contains whole groups, so that all vectors pick scales alike.
class RegularScalePicker {
 public:
  HWY_INLINE RegularScalePicker(std::int64_t group_elements, const std::int32_t* scales)
      : scales_(scales), groups_per_vector_(kLanes / group_elements) {
    count_begun(group_elements, begun_);
  }

  HWY_INLINE IntVec next() {
    const Ints d;
    const auto pick = hn::IndicesFromVec(d, hn::Load(d, begun_));
    const IntVec picked = hn::TableLookupLanes(hn::LoadU(d, scales_), pick);
    scales_ += groups_per_vector_;
    return picked;
  }

 private:
  const std::int32_t* scales_;
  const std::int64_t groups_per_vector_;
  alignas(64) std::int32_t begun_[kLanes];
};

// Decodes any groups with a scale for each element.
template <class Decoder, class Picker>
HWY_INLINE void decode_picked(const Decoder decoder, Picker& picker, std::int64_t count) {
  std::int64_t i = 0;
  for (; i + 2 * kLanes <= count; i += 2 * kLanes) {
    const IntVec low = picker.next();
    const IntVec high = picker.next();
    decoder.two(i, low, high);
  }
  const IntVec low = picker.next();
  decoder.rest(i, count, low, picker.next());
}

template <class Decoder>
HWY_INLINE void decode_elements(const Decoder decoder, std::int64_t group_elements,
                                const std::int32_t* scales, std::int64_t count,
                                std::int64_t place) {
  if (group_elements % (2 * kLanes) == 0) {
    decode_runs(decoder, group_elements, scales, count, group_elements - place);
  } else if (group_elements == kLanes) {
    decode_vectors(decoder, scales, count);
  } else if (kLanes % group_elements == 0) {
    RegularScalePicker picker(group_elements, scales);
    decode_picked(decoder, picker, count);
  } else {
    ScalePicker picker(group_elements, scales, place);
    decode_picked(decoder, picker, count);
  }
}

// Decodes `count` elements from `begin` on, which is a multiple of a block.
template <int kBits, MxintDialect kDialect, class Value>
HWY_INLINE void decode_block(const MxintCodes& x, std::int64_t begin, std::int64_t count,
                             BlockScales& scales, bool non_temporal, Value* y) {
  const std::int64_t first = begin / x.group, last = (begin + count - 1) / x.group;
  widen_scales(x.scales + first, last - first + 1, scales);
  const std::uint8_t* codes = x.codes + begin * kBits / 8;
  const std::int64_t place = begin % x.group;
  if (scales.plain) {
    const Decoder<kBits, kDialect, true, Value> decoder{codes, y, non_temporal};
    decode_elements(decoder, x.group, scales.of_group, count, place);
  } else {
    const Decoder<kBits, kDialect, false, Value> decoder{codes, y, non_temporal};
    decode_elements(decoder, x.group, scales.of_group, count, place);
  }
}

template <int kBits, MxintDialect kDialect, class Value>
HWY_INLINE void decode_range(const MxintCodes& x, std::int64_t begin, std::int64_t end,
                             bool non_temporal, Value* y) {
  BlockScales scales;
  for (std::int64_t i = begin; i < end; i += kDequantizeBlock)
    decode_block<kBits, kDialect>(x, i, std::min(kDequantizeBlock, end - i), scales, non_temporal,
                                  y + i);
  if (non_temporal) hwy::FlushStream();
}

template <class Value>
HWY_INLINE void decode(const MxintCodes& x, MxintDialect dialect, std::int64_t begin,
                       std::int64_t end, bool non_temporal, Value* y) {
  constexpr auto kMase = MxintDialect::mase, kOcp = MxintDialect::ocp;
  if (x.bits == 8) {
    if (dialect == kMase) return decode_range<8, kMase>(x, begin, end, non_temporal, y);
    return decode_range<8, kOcp>(x, begin, end, non_temporal, y);
  }
  if (dialect == kMase) return decode_range<4, kMase>(x, begin, end, non_temporal, y);
  return decode_range<4, kOcp>(x, begin, end, non_temporal, y);
}

void decode_bfloat16(const MxintCodes& x, MxintDialect dialect, std::int64_t begin,
                     std::int64_t end, bool non_temporal, std::uint16_t* y) {
  decode(x, dialect, begin, end, non_temporal, y);
}
void decode_float(const MxintCodes& x, MxintDialect dialect, std::int64_t begin, std::int64_t end,
                  bool non_temporal, float* y) {
  decode(x, dialect, begin, end, non_temporal, y);
}

std::int64_t lanes() { return kLanes; }

// Reads and writes vectors alternately, in proportion. Writes depend on reads, so that no read is optimized away. `y`
// is aligned to vectors.
void move_range(std::int64_t read_bytes, const std::uint8_t* x, std::int64_t write_bytes,
                bool non_temporal, std::uint8_t* y) {
  const hn::ScalableTag<std::uint8_t> d;
  const auto width = static_cast<std::int64_t>(hn::Lanes(d));
  const std::int64_t reads = read_bytes / width, writes = write_bytes / width;
  auto seen = hn::Zero(d);
  std::int64_t due = 0;  // of the next read, in units of 1 / writes
  for (std::int64_t i = 0; i < writes; ++i) {
    for (due += reads; due >= writes; due -= writes, x += width)
      seen = hn::Xor(seen, hn::LoadU(d, x));
    put_vector(seen, d, y + i * width, non_temporal);
  }
  const std::int64_t unread = read_bytes - reads * width, unwritten = write_bytes - writes * width;
  if (unread > 0) seen = hn::Xor(seen, load(d, x, Partial{unread}));
  if (unwritten > 0) store(seen, d, y + writes * width, Partial{unwritten});
  if (non_temporal) hwy::FlushStream();
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace hone::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hone::kernels {
namespace {

HWY_EXPORT(decode_bfloat16);
HWY_EXPORT(decode_float);
HWY_EXPORT(lanes);
HWY_EXPORT(move_range);

// 64 KiB of codes: enough for the hardware prefetcher, and some microseconds of work.
constexpr std::int64_t kChunk = 16 * kDequantizeBlock;

constexpr std::int64_t kLine = 64;

bool begins_line(const void* memory) {
  return reinterpret_cast<std::uintptr_t>(memory) % kLine == 0;
}

template <class Value, class Decode>
void run(ThreadPool& pool, const MxintCodes& x, Value* y, Decode&& decode) {
  HONE_ASSERT((x.bits == 4 || x.bits == 8) && x.group >= 1 && x.count >= 0,
              "{} elements of {} bits in groups of {}", x.count, x.bits, x.group);
  const DequantizePartition partition = dequantize_partition(x.count, sizeof(Value));
  const bool non_temporal = partition.non_temporal && begins_line(y);
  parallel_ranges(pool, x.count, partition.chunk_elements,
                  [&](std::int64_t begin, std::int64_t end) { decode(begin, end, non_temporal); });
}

}  // namespace

DequantizePartition dequantize_partition(std::int64_t count, std::int64_t value_bytes) {
  static const auto cache = static_cast<std::int64_t>(last_level_cache_bytes());
  return {.chunk_elements = kChunk,
          .chunks = (count + kChunk - 1) / kChunk,
          .block_elements = kDequantizeBlock,
          .vector_elements = HWY_DYNAMIC_DISPATCH(lanes)(),
          .non_temporal = count > cache / value_bytes};
}

void dequantize(ThreadPool& pool, const MxintCodes& x, MxintDialect dialect, std::uint16_t* y) {
  run(pool, x, y, [&](std::int64_t begin, std::int64_t end, bool non_temporal) {
    HWY_DYNAMIC_DISPATCH(decode_bfloat16)(x, dialect, begin, end, non_temporal, y);
  });
}

void dequantize(ThreadPool& pool, const MxintCodes& x, MxintDialect dialect, float* y) {
  run(pool, x, y, [&](std::int64_t begin, std::int64_t end, bool non_temporal) {
    HWY_DYNAMIC_DISPATCH(decode_float)(x, dialect, begin, end, non_temporal, y);
  });
}

void move_bytes(ThreadPool& pool, std::int64_t chunks, bool non_temporal, std::int64_t read_bytes,
                const std::uint8_t* x, std::int64_t write_bytes, std::uint8_t* y) {
  HONE_ASSERT(begins_line(y), "y begins within a cache line");
  pool.run(chunks, [&](std::int64_t chunk) {
    const auto begin_of = [&](std::int64_t bytes, std::int64_t of) {
      return of == chunks ? bytes : bytes / chunks * of / kLine * kLine;
    };
    const std::int64_t read = begin_of(read_bytes, chunk), write = begin_of(write_bytes, chunk);
    HWY_DYNAMIC_DISPATCH(move_range)
    (begin_of(read_bytes, chunk + 1) - read, x + read, begin_of(write_bytes, chunk + 1) - write,
     non_temporal, y + write);
  });
}

}  // namespace hone::kernels
#endif  // HWY_ONCE
