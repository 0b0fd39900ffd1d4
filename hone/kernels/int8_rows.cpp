#include "hone/kernels/int8_rows.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

#include "hone/base/error.h"
#include "hone/kernels/block_elements.h"
#include "hone/kernels/grain.h"
#include "hone/kernels/scaled_integer.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hone/kernels/int8_rows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "hone/kernels/int8_rounding-inl.h"
#include "hone/kernels/vector_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hone::kernels {
namespace HWY_NAMESPACE {
namespace {

using Bits = hn::RebindToUnsigned<Floats>;

constexpr int kLowestFall = -120;
constexpr std::int64_t kMinBlock = 16;

// Reduces each of kLanes vectors: lane j of the result combines all lanes of values[j] with combine(a, b). Takes half
// the work of reducing one vector after the other.
template <class D, class Combine>
HWY_INLINE hn::Vec<D> combine_each(D d, hn::Vec<D> (&values)[kLanes], Combine&& combine) {
#pragma GCC unroll 4
  for (std::int64_t count = kLanes; count > 1; count /= 2) {
#pragma GCC unroll 8
    for (std::int64_t i = 0; i < count / 2; ++i) {
      values[i] = combine(hn::ConcatEven(d, values[2 * i + 1], values[2 * i]),
                          hn::ConcatOdd(d, values[2 * i + 1], values[2 * i]));
    }
  }
  return values[0];
}

// Returns the bits of the largest magnitude in each lane. The bits of NaN are above those of infinity.
HWY_INLINE hn::Vec<Bits> largest_lanes(std::int64_t n, const float* x) {
  auto largest = hn::Zero(Bits());
  for_vectors(Floats(), n, [&](std::int64_t i, auto part) HWY_ATTR {
    const auto magnitude = hn::Abs(load(Floats(), x + i, part));
    largest = hn::Max(largest, hn::BitCast(Bits(), magnitude));
  });
  return largest;
}

// Rounds any block, with the factor 2^-exponent. Returns the sum of its codes.
HWY_NOINLINE std::int32_t round_rare_run(std::int64_t n, const float* x, int exponent, float bound,
                                         std::int8_t* codes) {
  std::int32_t sum = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const double value = std::nearbyint(std::ldexp(static_cast<double>(x[i]), -exponent));
    codes[i] = static_cast<std::int8_t>(std::clamp<double>(value, -bound, bound));
    sum += codes[i];
  }
  return sum;
}

// Calls body(block, first element, elements) for the blocks of a row.
template <class Body>
HWY_INLINE void for_blocks(const Int8Shape& shape, Body&& body) {
  std::int64_t block = 0;
  for (std::int64_t k = 0; k < shape.columns; k += shape.block, ++block)
    body(block, k, std::min(shape.block, shape.columns - k));
}

// Access to the starts and origins of all blocks of a row.
class RowStarts {
 public:
  RowStarts(const Int8Rows& rows, std::int64_t row)
      : first_(&rows.start(row, 0)), group_(rows.group(row)) {}
  HWY_INLINE std::int32_t& origin(std::int64_t block) const {
    return first_[(block * 2 + 1) * group_];
  }
  HWY_INLINE void set(std::int64_t block, std::int32_t start, std::int32_t origin_bits) const {
    first_[block * 2 * group_] = start;
    origin(block) = origin_bits;
  }
  // Sets the start of a block whose codes have this sum and whose scale is 2^fall times the row's.
  HWY_INLINE void set_sum(std::int64_t block, std::int32_t sum, int fall) const {
    const std::int32_t bits = kSumOrigin + fall * (1 << 23);
    // Unsigned, since the sum over a row with NaN can be any number; the scale of such a row is NaN.
    set(block,
        static_cast<std::int32_t>(static_cast<std::uint32_t>(bits) -
                                  128u * static_cast<std::uint32_t>(sum)),
        bits);
  }

 private:
  std::int32_t* first_;
  std::int64_t group_;
};

HWY_INLINE void clear_padding(const Int8Shape& shape, std::int8_t* codes) {
  std::fill(codes + shape.columns, codes + shape.stride(), std::int8_t{0});
}

float largest_finite(std::int64_t n, const float* x) {
  float largest = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const float magnitude = std::fabs(x[i]);
    if (std::isfinite(magnitude)) largest = std::max(largest, magnitude);
  }
  return largest;
}

void round_row(const float* x, const Int8Grid& grid, const Int8Rows& to, std::int64_t row) {
  const Int8Shape& shape = to.shape;
  const float bound = static_cast<float>((1 << (grid.bits - 1)) - 1);
  const std::uint32_t largest =
      hn::GetLane(hn::MaxOfLanes(Bits(), largest_lanes(shape.columns, x)));
  float scale = grid.scale;
  if (scale == 0) {
    scale = usable_scale((largest < kInfinityBits ? std::bit_cast<float>(largest)
                                                  : largest_finite(shape.columns, x)) /
                             bound,
                         bound);
  }
  std::int8_t* const codes = to.codes + row * shape.stride();
  const RowStarts starts(to, row);
  for_blocks(shape, [&](std::int64_t block, std::int64_t k, std::int64_t n) HWY_ATTR {
    const auto sums = round_run(n, x + k, 1.0f / scale, bound, codes + k);
    starts.set_sum(block, hn::GetLane(hn::SumOfLanes(Words(), sums)), 0);
  });
  clear_padding(shape, codes);
  to.scales[row] = largest > kInfinityBits ? std::numeric_limits<float>::quiet_NaN() : scale;
}

constexpr int kNoExponent = -1000;  // for a block of zeros

// Rounds a row with unusual blocks, one block after the other.
HWY_NOINLINE void round_rare_row(const float* x, const Int8Blocks& blocks, const Int8Rows& to,
                                 std::int64_t row) {
  const BlockScale scale{0, -127, 127, blocks.next_from};
  const float bound = static_cast<float>((1 << (blocks.bits - 1)) - 1);
  const int fraction = blocks.bits - 2;
  std::int8_t* const codes = to.codes + row * to.shape.stride();
  const RowStarts starts(to, row);
  int highest = kNoExponent;
  bool numbers = true;
  for_blocks(to.shape, [&](std::int64_t block, std::int64_t k, std::int64_t n) HWY_ATTR {
    const std::uint32_t largest = hn::GetLane(hn::MaxOfLanes(Bits(), largest_lanes(n, x + k)));
    numbers = numbers && largest < kInfinityBits;
    const int exponent =
        largest == 0 || largest >= kInfinityBits ? kNoExponent : scale_exponent(scale, largest);
    starts.origin(block) = exponent;
    highest = std::max(highest, exponent);
  });
  for_blocks(to.shape, [&](std::int64_t block, std::int64_t k, std::int64_t n) {
    const int exponent = starts.origin(block);
    const int fall = exponent - highest;
    if (exponent == kNoExponent || fall < kLowestFall) {
      std::fill_n(codes + k, n, std::int8_t{0});
      return starts.set_sum(block, 0, 0);
    }
    starts.set_sum(block, round_rare_run(n, x + k, exponent - fraction, bound, codes + k), fall);
  });
  to.scales[row] = numbers ? std::ldexp(1.0f, (highest == kNoExponent ? 0 : highest) - fraction)
                           : std::numeric_limits<float>::quiet_NaN();
}

// The exponents of the blocks of a row; kNoExponent for blocks of zeros.
struct RowExponents {
  HWY_ALIGN std::int32_t of[kMaxInt8Columns / kMinBlock + kLanes];
  int lowest, highest;  // except blocks of zeros
  bool usual;  // no block of subnormals, with NaN or infinities, or too far from the others
};

// Calls body(n) with the number of elements of a block, as a compile-time constant for the usual sizes.
template <class Body>
HWY_INLINE auto with_elements(std::int64_t n, Body&& body) {
  if (HWY_LIKELY(n == 32)) return body(std::integral_constant<std::int64_t, 32>());
  if (n == 16) return body(std::integral_constant<std::int64_t, 16>());
  return body(n);
}

// Finds the exponents of kLanes blocks at a time.
HWY_INLINE void find_exponents(const float* x, const Int8Blocks& blocks, const Int8Shape& shape,
                               RowExponents& exponents) {
  const Words d;
  const std::int64_t count = shape.blocks();
  const auto none = hn::Set(d, kNoExponent);
  auto highest = none, lowest = hn::Set(d, -kNoExponent);
  for (std::int64_t first = 0; first < count; first += kLanes) {
    hn::Vec<Bits> lanes[kLanes];
    for (std::int64_t i = 0; i < kLanes; ++i) {
      const std::int64_t k = (first + i) * shape.block;
      lanes[i] = first + i < count ? largest_lanes(std::min(shape.block, shape.columns - k), x + k)
                                   : hn::Zero(Bits());
    }
    const auto largest = hn::BitCast(
        d, combine_each(Bits(), lanes, [](auto a, auto b) HWY_ATTR { return hn::Max(a, b); }));
    const auto zero = hn::Eq(largest, hn::Zero(d));
    const auto above = hn::And(largest, hn::Set(d, (1 << 23) - 1));
    const auto next = hn::Gt(above, hn::Set(d, static_cast<std::int32_t>(blocks.next_from) - 1));
    auto exponent = hn::Sub(hn::ShiftRight<23>(largest), hn::Set(d, 127));
    exponent = hn::Sub(exponent, hn::VecFromMask(d, next));  // the mask is -1
    highest = hn::Max(highest, hn::IfThenElse(zero, none, exponent));
    lowest = hn::Min(lowest, hn::IfThenElse(zero, hn::Set(d, -kNoExponent), exponent));
    hn::Store(hn::IfThenElse(zero, none, exponent), d, exponents.of + first);
  }
  exponents.highest = hn::GetLane(hn::MaxOfLanes(d, highest));
  exponents.lowest = hn::GetLane(hn::MinOfLanes(d, lowest));
  // All powers of two in this range are normal floats: 2^e and 2^(bits - 2 - e).
  exponents.usual = exponents.lowest >= -127 + blocks.bits && exponents.highest <= 126 &&
                    exponents.lowest - exponents.highest >= kLowestFall;
}

void round_row_in_blocks(const float* x, const Int8Blocks& blocks, const Int8Rows& to,
                         std::int64_t row) {
  const Words d;
  const Int8Shape shape = to.shape;
  const std::int64_t count = shape.blocks();
  std::int8_t* const codes = to.codes + row * shape.stride();
  RowExponents exponents;
  find_exponents(x, blocks, shape, exponents);
  clear_padding(shape, codes);
  if (HWY_UNLIKELY(!exponents.usual)) return round_rare_row(x, blocks, to, row);
  const RowStarts starts(to, row);
  const float bound = static_cast<float>((1 << (blocks.bits - 1)) - 1);
  const auto inverse_of = hn::Set(d, 127 + blocks.bits - 2);
  const auto highest = hn::Set(d, exponents.highest);
  for (std::int64_t first = 0; first < count; first += kLanes) {
    HWY_ALIGN std::int32_t factors[kLanes], origins[kLanes], begins[kLanes];
    auto exponent = hn::Load(d, exponents.of + first);
    exponent = hn::IfThenElse(hn::Eq(exponent, hn::Set(d, kNoExponent)), highest, exponent);
    hn::Store(hn::ShiftLeft<23>(hn::Sub(inverse_of, exponent)), d, factors);
    hn::Vec<Words> lanes[kLanes];
    for (std::int64_t i = 0; i < kLanes; ++i) {
      const std::int64_t k = (first + i) * shape.block;
      lanes[i] = first + i < count ? round_run(std::min(shape.block, shape.columns - k), x + k,
                                               std::bit_cast<float>(factors[i]), bound, codes + k)
                                   : hn::Zero(d);
    }
    const auto sums = combine_each(d, lanes, [](auto a, auto b) HWY_ATTR { return hn::Add(a, b); });
    const auto origin =
        hn::Add(hn::Set(d, kSumOrigin), hn::ShiftLeft<23>(hn::Sub(exponent, highest)));
    hn::Store(origin, d, origins);
    hn::Store(hn::Sub(origin, hn::ShiftLeft<7>(sums)), d, begins);
    for (std::int64_t i = 0; i < std::min(kLanes, count - first); ++i)
      starts.set(first + i, begins[i], origins[i]);
  }
  to.scales[row] = std::ldexp(1.0f, exponents.highest - (blocks.bits - 2));
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace hone::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hone::kernels {
namespace {

HWY_EXPORT(round_row);
HWY_EXPORT(round_row_in_blocks);

void check(const Int8Shape& shape, int bits) {
  HONE_ASSERT(shape.columns >= 0 && shape.columns <= kMaxInt8Columns, "rows of {} integers",
              shape.columns);
  HONE_ASSERT(
      shape.block == shape.columns || (shape.block % 16 == 0 && shape.block <= kMaxInt8Block),
      "blocks of {} integers", shape.block);
  HONE_ASSERT(bits >= 2 && bits <= 8, "integers of {} bits", bits);
}

}  // namespace

std::size_t int8_rows_bytes(const Int8Shape& shape) {
  const std::int64_t starts = 2 * shape.blocks();
  return static_cast<std::size_t>(shape.rows) *
         (static_cast<std::size_t>(shape.stride()) + sizeof(float) +
          static_cast<std::size_t>(starts) * sizeof(std::int32_t));
}

Int8Rows int8_rows(const Int8Shape& shape, void* memory) {
  Int8Rows rows{.shape = shape};
  rows.codes = static_cast<std::int8_t*>(memory);
  rows.scales = reinterpret_cast<float*>(rows.codes + shape.rows * shape.stride());
  rows.starts = reinterpret_cast<std::int32_t*>(rows.scales + shape.rows);
  return rows;
}

void round_rows(ThreadPool& pool, const float* x, const Int8Grid& grid, const Int8Rows& rows) {
  check(rows.shape, grid.bits);
  parallel_ranges(pool, rows.shape.rows, rows_per_chunk(rows.shape.columns),
                  [&](std::int64_t begin, std::int64_t end) {
                    for (std::int64_t row = begin; row < end; ++row) HWY_DYNAMIC_DISPATCH(round_row)
                    (x + row * rows.shape.columns, grid, rows, row);
                  });
}

void round_rows_in_blocks(ThreadPool& pool, const float* x, const Int8Blocks& blocks,
                          const Int8Rows& rows) {
  check(rows.shape, blocks.bits);
  parallel_ranges(pool, rows.shape.rows, rows_per_chunk(rows.shape.columns),
                  [&](std::int64_t begin, std::int64_t end) {
                    for (std::int64_t row = begin; row < end; ++row)
                      HWY_DYNAMIC_DISPATCH(round_row_in_blocks)
                    (x + row * rows.shape.columns, blocks, rows, row);
                  });
}

}  // namespace hone::kernels
#endif  // HWY_ONCE
