#include "hone/kernels/int8_rows.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "hone/base/error.h"
#include "hone/kernels/block_elements.h"
#include "hone/kernels/grain.h"
#include "hone/kernels/scaled_integer.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hone/kernels/int8_rows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "hone/kernels/vector_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hone::kernels {
namespace HWY_NAMESPACE {
namespace {

using Words = hn::RebindToSigned<Floats>;
using Bits = hn::RebindToUnsigned<Floats>;

// 1.5 · 2^23
constexpr std::int32_t kOrigin = 0x4b400000;
constexpr int kLowestFall = -120;

// The bits of the largest magnitude; those of NaN lie above those of infinity.
HWY_INLINE std::uint32_t largest_bits(std::int64_t n, const float* x) {
  const Bits bits;
  auto largest = hn::Zero(bits);
  for_vectors(Floats(), n, [&](std::int64_t i, auto part) HWY_ATTR {
    const auto magnitude = hn::Abs(load(Floats(), x + i, part));
    largest = hn::Max(largest, hn::BitCast(bits, magnitude));
  });
  return hn::GetLane(hn::MaxOfLanes(bits, largest));
}

// codes = clamp(round(x factor)), in whole vectors. Returns their sum.
HWY_INLINE std::int32_t round_run(std::int64_t n, const float* x, float factor, float bound,
                                  std::int8_t* codes) {
  const Floats d;
  const hn::Rebind<std::int8_t, Floats> bytes;
  const auto by = hn::Set(d, factor);
  const auto highest = hn::Set(d, bound);
  const auto lowest = hn::Set(d, -bound);
  auto sum = hn::Zero(Words());
  for_vectors(d, n, [&](std::int64_t i, auto part) HWY_ATTR {
    const auto value = hn::Mul(load(d, x + i, part), by);
    // the bound is whole, so rounding what it cuts down is cutting down what was rounded
    const auto code = hn::NearestInt(hn::Max(lowest, hn::Min(highest, value)));
    sum = hn::Add(sum, code);
    hn::StoreU(hn::DemoteTo(bytes, code), bytes, codes + i);
  });
  return hn::GetLane(hn::SumOfLanes(Words(), sum));
}

// The same where the factor, 2^-exponent, is no float.
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

HWY_INLINE void begin_block(const Int8Rows& to, std::int64_t row, std::int64_t block,
                            std::int32_t sum, int fall) {
  constexpr std::int32_t kWeightZero = 128;
  const std::int32_t origin = kOrigin + fall * (1 << 23);
  to.start(row, block) = origin - kWeightZero * sum;
  to.origin(row, block) = origin;
}

HWY_INLINE void clear_behind(const Int8Shape& shape, std::int8_t* codes) {
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
  const std::uint32_t largest = largest_bits(shape.columns, x);
  float scale = grid.scale;
  if (scale == 0) {
    scale = usable_scale((largest < kInfinityBits ? std::bit_cast<float>(largest)
                                                  : largest_finite(shape.columns, x)) /
                             bound,
                         bound);
  }
  std::int8_t* const codes = to.codes + row * shape.stride();
  for_blocks(shape, [&](std::int64_t block, std::int64_t k, std::int64_t n) HWY_ATTR {
    const std::int32_t sum = round_run(n, x + k, 1.0f / scale, bound, codes + k);
    begin_block(to, row, block, sum, 0);
  });
  clear_behind(shape, codes);
  to.scales[row] = largest > kInfinityBits ? std::numeric_limits<float>::quiet_NaN() : scale;
}

constexpr int kNoExponent = -1000;  // of a block of zeros

void round_row_in_blocks(const float* x, const Int8Blocks& blocks, const Int8Rows& to,
                         std::int64_t row) {
  const Int8Shape& shape = to.shape;
  const BlockScale scale{0, -127, 127, blocks.next_from};
  const float bound = static_cast<float>((1 << (blocks.bits - 1)) - 1);
  const int fraction = blocks.bits - 2;
  std::int8_t* const codes = to.codes + row * shape.stride();
  // first the exponents, in the place of the origins
  int highest = kNoExponent;
  bool numbers = true;
  for_blocks(shape, [&](std::int64_t block, std::int64_t k, std::int64_t n) HWY_ATTR {
    const std::uint32_t largest = largest_bits(n, x + k);
    numbers = numbers && largest < kInfinityBits;
    to.origin(row, block) =
        largest == 0 || largest >= kInfinityBits ? kNoExponent : scale_exponent(scale, largest);
    highest = std::max(highest, to.origin(row, block));
  });
  for_blocks(shape, [&](std::int64_t block, std::int64_t k, std::int64_t n) HWY_ATTR {
    const int exponent = to.origin(row, block);
    const int fall = exponent - highest;
    if (exponent == kNoExponent || fall < kLowestFall) {
      std::fill_n(codes + k, n, std::int8_t{0});
      return begin_block(to, row, block, 0, 0);
    }
    const int field = 127 + fraction - exponent;
    if (HWY_LIKELY(field >= 1 && field <= 254)) {
      const float factor = std::bit_cast<float>(static_cast<std::uint32_t>(field) << 23);
      begin_block(to, row, block, round_run(n, x + k, factor, bound, codes + k), fall);
    } else {
      const int away = exponent - fraction;
      begin_block(to, row, block, round_rare_run(n, x + k, away, bound, codes + k), fall);
    }
  });
  clear_behind(shape, codes);
  to.scales[row] = numbers ? std::ldexp(1.0f, (highest == kNoExponent ? 0 : highest) - fraction)
                           : std::numeric_limits<float>::quiet_NaN();
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

constexpr std::size_t kCacheLine = 64;

std::size_t lines_of(std::int64_t count, std::size_t element) {
  return (static_cast<std::size_t>(count) * element + kCacheLine - 1) / kCacheLine * kCacheLine;
}

std::int64_t starts_of(const Int8Shape& shape) {
  const std::int64_t groups = (shape.rows + Int8Rows::kGroup - 1) / Int8Rows::kGroup;
  return groups * shape.blocks() * 2 * Int8Rows::kGroup;
}

void check(const Int8Shape& shape, int bits) {
  HONE_ASSERT(shape.columns >= 0 && shape.columns <= 1 << 17, "rows of {} integers", shape.columns);
  HONE_ASSERT(
      shape.block == shape.columns || (shape.block % 16 == 0 && shape.block <= kMostInt8Block),
      "blocks of {} integers", shape.block);
  HONE_ASSERT(bits >= 2 && bits <= 8, "integers of {} bits", bits);
}

}  // namespace

std::size_t int8_rows_bytes(const Int8Shape& shape) {
  return lines_of(shape.rows * shape.stride(), 1) + lines_of(shape.rows, sizeof(float)) +
         lines_of(starts_of(shape), sizeof(std::int32_t));
}

Int8Rows int8_rows(const Int8Shape& shape, void* memory) {
  auto* at = static_cast<std::byte*>(memory);
  const auto take = [&](std::int64_t count, std::size_t element) {
    std::byte* const begin = at;
    at += lines_of(count, element);
    return static_cast<void*>(begin);
  };
  Int8Rows rows{.shape = shape};
  rows.codes = static_cast<std::int8_t*>(take(shape.rows * shape.stride(), 1));
  rows.scales = static_cast<float*>(take(shape.rows, sizeof(float)));
  rows.starts = static_cast<std::int32_t*>(take(starts_of(shape), sizeof(std::int32_t)));
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
