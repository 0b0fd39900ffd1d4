#include "hone/kernels/block.h"

#include <algorithm>
#include <limits>

#include "hone/base/error.h"
#include "hone/kernels/block_elements.h"
#include "hone/kernels/grain.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hone/kernels/block.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "hone/kernels/logarithm-inl.h"
#include "hone/kernels/minifloat-inl.h"
#include "hone/kernels/vector_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hone::kernels {
namespace HWY_NAMESPACE {
namespace {

// Calls body(offset of the first value, rows, columns) for the rectangles that the blocks of the range cover, one per
// row of blocks.
template <typename Body>
HWY_INLINE void for_bands(const BlockGrid& grid, BlockRange range, Body&& body) {
  const std::int64_t across = grid.blocks_across(), down = grid.blocks_down();
  std::int64_t at = range.begin % across;
  std::int64_t left = range.end - range.begin;
  for (std::int64_t band = range.begin / across; left > 0; ++band, at = 0) {
    const std::int64_t count = std::min(across - at, left);
    const std::int64_t row = band % down * grid.block_rows;
    const std::int64_t column = at * grid.block_columns;
    body((band / down * grid.rows + row) * grid.columns + column,
         std::min(grid.block_rows, grid.rows - row),
         std::min(count * grid.block_columns, grid.columns - column));
    left -= count;
  }
}

// Returns the rounding of the elements of a block whose scale is 2^exponent.
template <class D>
HWY_INLINE MinifloatRounder<D> rounder(D d, const MinifloatElements& elements, int exponent) {
  return MinifloatRounder<D>(d, elements.scaled(exponent));
}

template <class D>
HWY_INLINE PowerRounder<D> rounder(D d, const PowerElements& elements, int exponent) {
  return PowerRounder<D>(d, elements.scaled(exponent));
}

// Rounds a run of values of an unusual block: of zeros, with NaN or infinities, or with a scale near the limits of
// floats.
template <class Elements>
HWY_NOINLINE void round_rare_run(const BlockScale& scale, const Elements& elements,
                                 std::uint32_t largest, std::int64_t n, const float* x, float* y) {
  if (largest == 0) {
    std::copy_n(x, n, y);
  } else if (largest >= kInfinityBits) {
    std::fill_n(y, n, std::numeric_limits<float>::quiet_NaN());
  } else {
    const int exponent = scale_exponent(scale, largest);
    for (std::int64_t i = 0; i < n; ++i) y[i] = elements.round_slowly(exponent, x[i]);
  }
}

// Computes the exponent of a block from the bits of its largest magnitude; returns false for unusual blocks.
template <class Elements>
HWY_INLINE bool usual_exponent(const BlockScale& scale, const Elements& elements,
                               std::uint32_t largest, int& exponent) {
  if (HWY_UNLIKELY(largest - 1 >= kInfinityBits - 1)) return false;
  exponent = scale_exponent(scale, largest);
  return HWY_LIKELY(elements.fast(exponent));
}

// Rounds a run of values of a block with this largest magnitude.
template <class D, class Elements>
HWY_INLINE void round_run(D d, const BlockScale& scale, const Elements& elements,
                          std::uint32_t largest, std::int64_t n, const float* x, float* y) {
  int exponent = 0;
  if (!usual_exponent(scale, elements, largest, exponent))
    return round_rare_run(scale, elements, largest, n, x, y);
  const auto round = rounder(d, elements, exponent);
  for_vectors(d, n, [&](std::int64_t i, auto part) HWY_ATTR {
    store(round(load(d, x + i, part)), d, y + i, part);
  });
}

// Returns magnitudes as bits, which order NaN above infinity and infinity above finite numbers.
template <class D>
HWY_INLINE hn::Vec<hn::RebindToUnsigned<D>> magnitude_bits(D, hn::Vec<D> x) {
  return hn::BitCast(hn::RebindToUnsigned<D>(), hn::Abs(x));
}

// Rounds a block of one row.
template <class D, class Elements>
HWY_INLINE void round_block(D d, const BlockScale& scale, const Elements& elements, std::int64_t n,
                            const float* x, float* y) {
  const hn::RebindToUnsigned<D> bits;
  auto largest = hn::Zero(bits);
  for_vectors(d, n, [&](std::int64_t i, auto part) HWY_ATTR {
    largest = hn::Max(largest, magnitude_bits(d, load(d, x + i, part)));
  });
  round_run(d, scale, elements, hn::GetLane(hn::MaxOfLanes(bits, largest)), n, x, y);
}

// The same for a few whole vectors, which stay in registers.
template <std::size_t kVectors, class D, class Elements>
HWY_INLINE void round_vectors(D d, const BlockScale& scale, const Elements& elements,
                              const float* x, float* y) {
  const hn::RebindToUnsigned<D> bits;
  constexpr std::size_t kLanes = hn::MaxLanes(D());
  hn::Vec<D> values[kVectors];
  auto magnitudes = hn::Zero(bits);
  for (std::size_t v = 0; v < kVectors; ++v) {
    values[v] = hn::LoadU(d, x + v * kLanes);
    magnitudes = hn::Max(magnitudes, magnitude_bits(d, values[v]));
  }
  const std::uint32_t largest = hn::GetLane(hn::MaxOfLanes(bits, magnitudes));
  int exponent = 0;
  if (!usual_exponent(scale, elements, largest, exponent))
    return round_rare_run(scale, elements, largest, kVectors * kLanes, x, y);
  const auto round = rounder(d, elements, exponent);
  for (std::size_t v = 0; v < kVectors; ++v) hn::StoreU(round(values[v]), d, y + v * kLanes);
}

// Rounds blocks of one row with kVectors vectors each; 0: any number.
template <std::size_t kVectors, class D, class Elements>
HWY_INLINE void round_rows(D d, const BlockGrid& grid, const BlockScale& scale,
                           const Elements& elements, BlockRange range, const float* x, float* y) {
  const std::int64_t width = grid.block_columns;
  for_bands(grid, range, [&](std::int64_t first, std::int64_t, std::int64_t columns) HWY_ATTR {
    const float* const from = x + first;
    float* const to = y + first;
    std::int64_t c = 0;
    if constexpr (kVectors > 0) {
      for (; c + width <= columns; c += width)
        round_vectors<kVectors>(d, scale, elements, from + c, to + c);
    }
    for (; c < columns; c += width)
      round_block(d, scale, elements, std::min(width, columns - c), from + c, to + c);
  });
}

// Rounds up to `kTogether` neighbouring blocks of several rows, in two passes row by row: reading memory twice in long
// runs is faster than once in short ones.
template <class D, class Elements>
HWY_INLINE void round_tiles(D d, const BlockGrid& grid, const BlockScale& scale,
                            const Elements& elements, std::int64_t rows, std::int64_t columns,
                            const float* x, float* y) {
  const hn::RebindToUnsigned<D> bits;
  constexpr std::size_t kLanes = hn::MaxLanes(D());
  HWY_ALIGN std::uint32_t magnitudes[kTogether * kLanes];
  std::uint32_t* const end =
      magnitudes + (columns + grid.block_columns - 1) / grid.block_columns * kLanes;
  std::fill(magnitudes, end, 0u);
  const auto for_runs = [&](auto&& body) HWY_ATTR {
    for (std::int64_t r = 0; r < rows; ++r) {
      std::uint32_t* lanes = magnitudes;
      for (std::int64_t c = 0; c < columns; c += grid.block_columns, lanes += kLanes)
        body(r * grid.columns + c, std::min(grid.block_columns, columns - c), lanes);
    }
  };
  for_runs([&](std::int64_t at, std::int64_t width, std::uint32_t* lanes) HWY_ATTR {
    auto largest = hn::Load(bits, lanes);
    for_vectors(d, width, [&](std::int64_t i, auto part) HWY_ATTR {
      largest = hn::Max(largest, magnitude_bits(d, load(d, x + at + i, part)));
    });
    hn::Store(largest, bits, lanes);
  });
  for (std::uint32_t* lanes = magnitudes; lanes < end; lanes += kLanes)
    *lanes = hn::GetLane(hn::MaxOfLanes(bits, hn::Load(bits, lanes)));
  for_runs([&](std::int64_t at, std::int64_t width, const std::uint32_t* lanes)
               HWY_ATTR { round_run(d, scale, elements, *lanes, width, x + at, y + at); });
}

template <class D, class Elements>
HWY_INLINE void round_all(D d, const BlockGrid& grid, const BlockScale& scale,
                          const Elements& elements, BlockRange range, const float* x, float* y) {
  if (grid.block_rows == 1) return round_rows<0>(d, grid, scale, elements, range, x, y);
  const std::int64_t together = kTogether * grid.block_columns;
  for_bands(grid, range, [&](std::int64_t first, std::int64_t rows, std::int64_t columns) HWY_ATTR {
    for (std::int64_t c = 0; c < columns; c += together)
      round_tiles(d, grid, scale, elements, rows, std::min(together, columns - c), x + first + c,
                  y + first + c);
  });
}

// Uses vectors no longer than a block.
template <class Elements>
HWY_INLINE void round_range(const BlockGrid& grid, const BlockScale& scale,
                            const Elements& elements, BlockRange range, const float* x, float* y) {
  const hn::CappedTag<float, 16> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  if (grid.block_rows == 1 && grid.block_columns == lanes)
    return round_rows<1>(d, grid, scale, elements, range, x, y);
  if (grid.block_rows == 1 && grid.block_columns == 2 * lanes)
    return round_rows<2>(d, grid, scale, elements, range, x, y);
  if (grid.block_rows == 1 && grid.block_columns == 4 * lanes)
    return round_rows<4>(d, grid, scale, elements, range, x, y);
  if (grid.block_columns >= 16) return round_all(d, grid, scale, elements, range, x, y);
  if (grid.block_columns >= 8)
    return round_all(hn::CappedTag<float, 8>(), grid, scale, elements, range, x, y);
  round_all(hn::CappedTag<float, 4>(), grid, scale, elements, range, x, y);
}

void minifloat_blocks(const BlockGrid& grid, const BlockScale& scale,
                      const MinifloatElements& elements, BlockRange range, const float* x,
                      float* y) {
  round_range(grid, scale, elements, range, x, y);
}

void power_blocks(const BlockGrid& grid, const BlockScale& scale, const PowerElements& elements,
                  BlockRange range, const float* x, float* y) {
  round_range(grid, scale, elements, range, x, y);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace hone::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hone::kernels {
namespace {

HWY_EXPORT(minifloat_blocks);
HWY_EXPORT(power_blocks);

// Returns the number of blocks per chunk. For blocks of several rows, a multiple of those that `round_tiles` rounds
// together.
std::int64_t blocks_per_chunk(const BlockGrid& grid) {
  const std::int64_t least = rows_per_chunk(grid.block_rows * grid.block_columns);
  if (grid.block_rows == 1) return least;
  const std::int64_t together = std::min(kTogether, grid.blocks_across());
  return (least + together - 1) / together * together;
}

template <typename Range>
void run(ThreadPool& pool, BlockGrid grid, const BlockScale& scale, Range&& range) {
  HONE_ASSERT(grid.block_rows > 0 && grid.block_columns > 0 && scale.lowest <= scale.highest,
              "blocks of {} x {} with scales 2^{} to 2^{}", grid.block_rows, grid.block_columns,
              scale.lowest, scale.highest);
  if (grid.matrices * grid.rows * grid.columns == 0) return;
  grid.block_rows = std::min(grid.block_rows, grid.rows);
  grid.block_columns = std::min(grid.block_columns, grid.columns);
  const std::int64_t grain = blocks_per_chunk(grid);
  parallel_ranges(pool, grid.blocks(), grain, [&](std::int64_t begin, std::int64_t end) {
    range(grid, BlockRange{begin, end});
  });
}

}  // namespace

void round_blocks_to_minifloats(ThreadPool& pool, const BlockGrid& grid, const BlockScale& scale,
                                const Minifloat& elements, const float* x, float* y) {
  HONE_ASSERT(elements.highest > 0 && !elements.infinite, "elements of a block up to {}",
              elements.highest);
  const MinifloatElements relative(elements);
  run(pool, grid, scale, [&](const BlockGrid& clipped, BlockRange range) {
    HWY_DYNAMIC_DISPATCH(minifloat_blocks)(clipped, scale, relative, range, x, y);
  });
}

void round_blocks_to_powers(ThreadPool& pool, const BlockGrid& grid, const BlockScale& scale,
                            int octaves, const float* x, float* y) {
  HONE_ASSERT(octaves >= 0 && scale.lowest >= -126 && scale.highest <= 127,
              "{} octaves below 2^{} to 2^{}", octaves, scale.lowest, scale.highest);
  run(pool, grid, scale, [&](const BlockGrid& clipped, BlockRange range) {
    HWY_DYNAMIC_DISPATCH(power_blocks)(clipped, scale, PowerElements{octaves}, range, x, y);
  });
}

}  // namespace hone::kernels
#endif  // HWY_ONCE
