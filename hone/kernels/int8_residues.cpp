#include "hone/kernels/int8_residues.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hone/kernels/int8_residues.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#ifndef HONE_INT8_RESIDUES_ONCE
#define HONE_INT8_RESIDUES_ONCE
namespace hone::kernels {
namespace {

/// Largest sum of activations of one sign in a 16-bit sum.
constexpr int kLimit = 128;

/// Layout of the memory for limited rows; each part is aligned like the whole.
struct LimitedMemory {
  std::size_t code_bytes, end_bytes, most_residues;

  LimitedMemory(const Int8Shape& shape, std::int64_t rows)
      : code_bytes(static_cast<std::size_t>(rows * shape.stride())),
        end_bytes(whole_lines(static_cast<std::size_t>(rows) * sizeof(std::int32_t))),
        most_residues(code_bytes / 12 + 64) {}
  std::size_t bytes() const {
    return code_bytes + end_bytes + whole_lines(most_residues * sizeof(Residue));
  }

 private:
  static std::size_t whole_lines(std::size_t bytes) { return (bytes + 63) / 64 * 64; }
};

/// Writes residues while there is room for those of a whole vector.
class ResidueList {
 public:
  ResidueList(Residue* begin, std::size_t most) : begin_(begin), most_(most) {}

  bool has_room_for(std::size_t quads) const { return count_ + 2 * quads <= most_; }
  /// Adds one quad unless all four codes are zero. There must be room.
  HWY_INLINE void add(std::int64_t quad, FourCodes left) {
    std::int32_t word;
    std::memcpy(&word, &left, sizeof(word));
    begin_[count_] = {static_cast<std::int32_t>(quad), left};
    count_ += word != 0;
  }
  /// The same for pairs that may exceed the limit; their second code becomes an entry of its own.
  void add_large(std::int64_t quad, FourCodes left) {
    FourCodes second{};
    for (const int pair : {0, 2})
      if (std::abs(left.codes[pair] + left.codes[pair + 1]) > kLimit)
        std::swap(left.codes[pair + 1], second.codes[pair + 1]);
    add(quad, left);
    add(quad, second);
  }
  std::size_t count() const { return count_; }

 private:
  Residue* begin_;
  std::size_t most_, count_ = 0;
};

/// Numbers of pairs of codes that exceed the limit alone, and together with those of the next quad.
struct Beyond {
  std::int64_t alone = 0, with_next = 0;
};

/// Returns how many quads to add together, 1 or 2, or 0 if widening is cheaper. The unit of cost is a quad when two are
/// added together.
int cheapest(const Beyond& beyond, std::int64_t quads) {
  constexpr double kAloneCost = 1.2, kResidueCost = 1.5, kWidenedCost = 1.7;
  const auto share = [&](std::int64_t count) {
    return static_cast<double>(count) / static_cast<double>(std::max<std::int64_t>(1, quads));
  };
  const double two = 1 + kResidueCost * share(beyond.with_next);
  const double one = kAloneCost + kResidueCost * share(beyond.alone);
  if (std::min(one, two) > kWidenedCost) return 0;
  return two <= one ? 2 : 1;
}

}  // namespace
}  // namespace hone::kernels
#endif  // HONE_INT8_RESIDUES_ONCE

HWY_BEFORE_NAMESPACE();
namespace hone::kernels {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using Pairs = hn::CappedTag<std::int16_t, 32>;  // the stride of rows is a multiple of 64 bytes

using V = hn::Vec<Pairs>;

constexpr std::int64_t kVectorBytes = 2 * static_cast<std::int64_t>(hn::MaxLanes(Pairs()));

/// The codes of a vector, split by their place in their pairs.
struct CodePairs {
  V even, odd;

  explicit HWY_INLINE CodePairs(const std::int8_t* codes) {
    const auto both = hn::LoadU(Pairs(), reinterpret_cast<const std::int16_t*>(codes));
    even = hn::ShiftRight<8>(hn::ShiftLeft<8>(both));
    odd = hn::ShiftRight<8>(both);
  }
  HWY_INLINE V bytes() const {
    return hn::Or(hn::And(even, hn::Set(Pairs(), std::int16_t{0xff})), hn::ShiftLeft<8>(odd));
  }
};

HWY_INLINE V other_quad(V sums) {
  const hn::Repartition<std::int32_t, Pairs> d;
  return hn::BitCast(Pairs(), hn::Shuffle2301(hn::BitCast(d, sums)));
}

/// 1 in the lanes of every other quad, beginning with the first; else 0.
HWY_INLINE V first_quads() {
  const hn::Repartition<std::int64_t, Pairs> d;
  return hn::BitCast(Pairs(), hn::Set(d, std::int64_t{0x00010001}));
}

/// Moves the excess over the limit of codes of one sign, +1 or -1, from `codes` to `left`. With two quads, takes it
/// first from the quad with the larger sum.
HWY_INLINE void limit_sign(int together, V sign, CodePairs& codes, CodePairs& left) {
  const Pairs d;
  const V zero = hn::Zero(d), limit = hn::Set(d, std::int16_t{kLimit});
  const V even = hn::Max(hn::Mul(codes.even, sign), zero);
  const V sum = hn::Add(even, hn::Max(hn::Mul(codes.odd, sign), zero));
  V taken = hn::Max(hn::Sub(sum, limit), zero);
  if (together == 2) {
    const V other = other_quad(sum);
    const V excess = hn::Max(hn::Sub(hn::Add(sum, other), limit), zero);
    const auto has_more = hn::Gt(hn::Add(sum, first_quads()), other);
    taken = hn::IfThenElse(has_more, hn::Min(excess, sum), hn::Max(hn::Sub(excess, other), zero));
  }
  const V of_even = hn::Min(taken, even);
  const V even_part = hn::Mul(of_even, sign), odd_part = hn::Mul(hn::Sub(taken, of_even), sign);
  codes.even = hn::Sub(codes.even, even_part);
  codes.odd = hn::Sub(codes.odd, odd_part);
  left.even = hn::Add(left.even, even_part);
  left.odd = hn::Add(left.odd, odd_part);
}

/// Counts pairs beyond the limit in lanes.
HWY_INLINE void count_beyond(const std::int8_t* at, V& alone, V& with_next) {
  const Pairs d;
  const CodePairs codes(at);
  const V limit = hn::Set(d, std::int16_t{kLimit});
  const V positive = hn::Add(hn::Max(codes.even, hn::Zero(d)), hn::Max(codes.odd, hn::Zero(d)));
  const V negative = hn::Sub(positive, hn::Add(codes.even, codes.odd));
  const V two =
      hn::Max(hn::Add(positive, other_quad(positive)), hn::Add(negative, other_quad(negative)));
  alone = hn::Sub(alone, hn::VecFromMask(d, hn::Gt(hn::Max(positive, negative), limit)));
  with_next = hn::Sub(with_next, hn::VecFromMask(d, hn::Gt(two, limit)));
}

std::int64_t sum_of(V lanes) {
  HWY_ALIGN std::int16_t each[hn::MaxLanes(Pairs())];
  hn::Store(lanes, Pairs(), each);
  std::int64_t sum = 0;
  for (const std::int16_t lane : each) sum += lane;
  return sum;
}

void count_row(std::int64_t bytes, const std::int8_t* codes, Beyond& beyond) {
  V alone = hn::Zero(Pairs()), with_next = alone;
  for (std::int64_t k = 0; k < bytes; k += kVectorBytes) count_beyond(codes + k, alone, with_next);
  beyond.alone += sum_of(alone);
  beyond.with_next += sum_of(with_next) / 2;
}

/// Returns false if there was no room for all residues.
bool limit_row(int together, std::int64_t bytes, const std::int8_t* codes, std::int8_t* limited,
               ResidueList& residues) {
  const Pairs d;
  const V plus = hn::Set(d, std::int16_t{1}), minus = hn::Set(d, std::int16_t{-1});
  constexpr std::int64_t kQuads = kVectorBytes / 4;
  for (std::int64_t k = 0; k < bytes; k += kVectorBytes) {
    CodePairs kept(codes + k), left = kept;
    left.even = left.odd = hn::Zero(d);
    limit_sign(together, plus, kept, left);
    limit_sign(together, minus, kept, left);
    hn::StoreU(kept.bytes(), d, reinterpret_cast<std::int16_t*>(limited + k));
    if (hn::AllTrue(d, hn::Eq(hn::Or(left.even, left.odd), hn::Zero(d)))) continue;
    if (!residues.has_room_for(kQuads)) return false;
    HWY_ALIGN FourCodes quads[kQuads];
    hn::Store(left.bytes(), d, reinterpret_cast<std::int16_t*>(quads));
    const V sum = hn::Abs(hn::Add(left.even, left.odd));
    const bool is_large = !hn::AllFalse(d, hn::Gt(sum, hn::Set(d, std::int16_t{kLimit})));
    for (std::int64_t i = 0; i < kQuads; ++i) {
      const std::int64_t quad = k / 4 + i;
      if (HWY_UNLIKELY(is_large)) {
        residues.add_large(quad, quads[i]);
      } else {
        residues.add(quad, quads[i]);
      }
    }
  }
  return true;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace hone::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hone::kernels {
namespace {

HWY_EXPORT(count_row);
HWY_EXPORT(limit_row);

}  // namespace

std::size_t limited_rows_bytes(const Int8Shape& shape, std::int64_t rows) {
  return LimitedMemory(shape, rows).bytes();
}

LimitedRows limit_rows(const Int8Rows& x, std::int64_t first, std::int64_t most, void* memory) {
  const std::int64_t stride = x.shape.stride();
  const std::int64_t rows = std::min(most, x.shape.rows - first);
  const std::int8_t* const from = x.codes + first * stride;
  Beyond beyond;
  // A sample of the rows suffices.
  constexpr std::int64_t kEvery = 4;
  for (std::int64_t m = 0; m < rows; m += kEvery)
    HWY_DYNAMIC_DISPATCH(count_row)(stride, from + m * stride, beyond);
  const int together = cheapest(beyond, (rows + kEvery - 1) / kEvery * stride / 4);
  if (together == 0) return {};

  const LimitedMemory parts(x.shape, most);
  auto* const codes = static_cast<std::int8_t*>(memory);
  auto* const ends = reinterpret_cast<std::int32_t*>(codes + parts.code_bytes);
  auto* const entries = reinterpret_cast<Residue*>(codes + parts.code_bytes + parts.end_bytes);
  ResidueList residues(entries, parts.most_residues);
  for (std::int64_t m = 0; m < rows; ++m) {
    if (!HWY_DYNAMIC_DISPATCH(limit_row)(together, stride, from + m * stride, codes + m * stride,
                                         residues))
      return {};
    ends[m] = static_cast<std::int32_t>(residues.count());
  }
  return {together, codes, entries, ends};
}

}  // namespace hone::kernels
#endif  // HWY_ONCE
