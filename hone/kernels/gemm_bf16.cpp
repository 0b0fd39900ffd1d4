// Both operands are packed as pairs of neighbours in K: A, once, into panels of 8 rows; B into panels of 32 columns,
// the layout of weights in files. A chunk computes a tile of 128 rows by 4 groups of 48 columns, one block of K after
// the other. The block of B (295 KB), the block of A (196 KB) and the sums of the tile (98 KB), which every block of K
// adds to, stay in an L2 cache of 1 MB. A piece of 8 rows by one group is summed in registers (bf16_pairs-inl.h) and
// added to its sums in the L1 cache.
#include "hone/kernels/gemm_bf16.h"

#include <algorithm>
#include <array>

#include "hone/base/error.h"
#include "hone/kernels/bf16_products.h"
#include "hone/kernels/grain.h"
#include "hone/kernels/packed_matrix.h"
#include "hone/kernels/scratch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hone/kernels/gemm_bf16.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "hone/kernels/bf16_pairs-inl.h"
#include "hone/kernels/epilogue-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hone::kernels {
namespace HWY_NAMESPACE {
namespace {

constexpr std::int64_t kTileRowPanels = 16;
constexpr std::int64_t kTileGroups = 4;
constexpr std::int64_t kFewTileGroups = 2;  // for tiles of one row panel, which have less work
static_assert(kPairStride == kPackedRows);

// How a product is split; depends on its sizes alone.
struct PairPlan {
  GemmShape shape;
  std::int64_t pairs, depth_blocks, row_panels, column_groups, tile_groups;

  explicit PairPlan(const GemmShape& sizes)
      : shape(sizes),
        pairs(ceil_div(sizes.k, 2)),
        depth_blocks(std::max<std::int64_t>(1, ceil_div(pairs, kMaxPairs))),
        row_panels(ceil_div(sizes.m, kPairRows)),
        column_groups(ceil_div(sizes.n, kPieceStride)),
        tile_groups(row_panels == 1 ? kFewTileGroups : kTileGroups) {}

  std::int64_t depth_begin(std::int64_t block) const { return pairs * block / depth_blocks; }
  std::int64_t rows_offset(std::int64_t panel, std::int64_t pair) const {
    return (panel * pairs + pair) * kPairRows;
  }
  // Returns the columns of a group from a pair on, in panels of two vectors.
  PairVectors vectors(const std::uint32_t* packed, std::int64_t group, std::int64_t pair) const {
    PairVectors columns{
        {}, std::min(kMaxPairVectors, ceil_div(shape.n - group * kPieceStride, kPairColumns))};
    for (std::int64_t v = 0; v < columns.count; ++v) {
      const std::int64_t vector = group * kMaxPairVectors + v;
      columns.data[v] =
          packed + (vector / 2 * pairs + pair) * kPairStride + vector % 2 * kPairColumns;
    }
    return columns;
  }
};

PairLines rows_of(const Bf16Matrix& a, const GemmShape& shape) {
  return {nullptr, a.data, a.row_stride, a.column_stride, shape.m, shape.k};
}
PairLines columns_of(const Bf16Matrix& b, const GemmShape& shape) {
  return {nullptr, b.data, b.column_stride, b.row_stride, shape.n, shape.k};
}

void pack_lines(ThreadPool& pool, const PairPlan& plan, const PairLines& source,
                const PairPanels& panels) {
  constexpr std::int64_t kUnitsPerChunk = 4;
  parallel_ranges(
      pool, ceil_div(source.lines, kPackedRows) * plan.depth_blocks, kUnitsPerChunk,
      [&](std::int64_t from, std::int64_t to) {
        for (std::int64_t i = from; i < to; ++i) {
          const std::int64_t unit = i / plan.depth_blocks, block = i % plan.depth_blocks;
          const std::int64_t begin = plan.depth_begin(block), end = plan.depth_begin(block + 1),
                             first = unit * kPackedRows;
          if (source.depth_stride != 1) {
            pack_neighbours(source, first, begin, end, panels);
            continue;
          }
          const std::int64_t last = std::min(first + kPackedRows, source.lines);
          std::int64_t line = first;
          for (; line < last; line += kPairRows) pack_runs(source, line, begin, end, panels);
          for (; line % panels.width != 0; line += kPairRows)
            for (std::int64_t l = begin; l < end; ++l)
              std::fill_n(panels.at(line, l), kPairRows, 0u);
        }
      });
}

// Sums of a piece of the result over one block of K; `first` and `last`: whether it is the first or last block.
struct PieceOfSums {
  const float* sums;  // rows of kPieceStride
  std::int64_t row, column;
  std::int64_t rows, columns;
  bool first, last;
};

/// Accumulates sums in the result.
struct FloatResult {
  float* c;
  std::int64_t c_stride;
  const Epilogue& epilogue;

  void add(const PieceOfSums& p, float* /*aside*/) const {
    const Piece piece{
        c + p.row * c_stride + p.column, c_stride, p.row, p.column, p.rows, p.columns};
    add_sums(p.sums, kPieceStride, piece, epilogue, p.first);
    if (p.last && epilogue.has_more_steps()) finish_piece(piece, epilogue);
  }
};

/// Accumulates sums in a temporary buffer and rounds them at the end.
struct Bf16Result {
  std::uint16_t* c;
  std::int64_t c_stride;
  const Bf16Epilogue& epilogue;

  // `aside` holds the sums of the piece between blocks.
  void add(const PieceOfSums& p, float* aside) const {
    HWY_ALIGN float bias[kPieceStride];
    const bool has_bias = p.first && epilogue.bias != nullptr;
    if (has_bias)
      widen_range(p.columns, epilogue.bias + p.column, bias,
                  [](Bits d, BitsVec v) HWY_ATTR { return from_bfloat16(d, v); });
    if (!p.last)
      return add_sums(p.sums, kPieceStride, {aside, kPieceStride, 0, 0, p.rows, p.columns},
                      {.bias = has_bias ? bias : nullptr}, p.first);
    const float* const before = p.first ? (has_bias ? bias : nullptr) : aside;
    with_activation(epilogue.activation, [&](auto activated) HWY_ATTR {
      write(p, before, p.first ? 0 : kPieceStride, activated);
    });
  }

 private:
  // Stores activated(before + sums) + residual, rounded. `before` has rows `before_stride` apart; 0: one for all. Null:
  // nothing is added.
  template <class F>
  HWY_INLINE void write(const PieceOfSums& p, const float* before, std::int64_t before_stride,
                        F&& activated) const {
    const Floats d;
    const Bits bits;
    for (std::int64_t i = 0; i < p.rows; ++i) {
      const float* const sums = p.sums + i * kPieceStride;
      const float* const added = before + (before == nullptr ? 0 : i * before_stride);
      const std::uint16_t* const residual =
          epilogue.residual == nullptr
              ? nullptr
              : epilogue.residual + (p.row + i) * epilogue.residual_stride + p.column;
      std::uint16_t* const to = c + (p.row + i) * c_stride + p.column;
      for_vectors(d, p.columns, [=](std::int64_t j, auto part) HWY_ATTR {
        auto value = load(d, sums + j, part);
        if (before != nullptr) value = hn::Add(load(d, added + j, part), value);
        value = activated(d, value);
        if (residual != nullptr) {
          const BitsVec halves = hn::PromoteTo(bits, load(Halves(), residual + j, part));
          value = hn::Add(value, hn::BitCast(d, from_bfloat16(bits, halves)));
        }
        const BitsVec rounded = to_bfloat16(bits, hn::BitCast(bits, value));
        store(hn::DemoteTo(Halves(), hn::BitCast(SignedBits(), rounded)), Halves(), to + j, part);
      });
    }
  }
};

// Returns the vectors that a piece prefetches. The first of the pieces that share columns prefetch the next columns,
// one vector each; with two pieces, up to two each. A single piece ends before prefetched data would arrive.
std::array<const std::uint32_t*, 2> fetched_by(std::int64_t piece, std::int64_t pieces,
                                               const PairVectors& next) {
  const auto vector = [&](std::int64_t v) { return v < next.count ? next.data[v] : nullptr; };
  if (pieces == 1) return {};
  if (pieces == 2)
    return piece == 0 ? std::array{vector(0), vector(1)} : std::array{vector(2), vector(3)};
  return {vector(piece), nullptr};
}

template <class Result>
struct PairProduct {
  const PairPlan& plan;
  MultiplyPairs multiply;
  const std::uint32_t* rows;
  const std::uint32_t* columns;
  Result result;
  std::int64_t
      threads;  // that claim tiles: a thread's next tile is most often this many further on

  std::int64_t row_tiles() const { return ceil_div(plan.row_panels, kTileRowPanels); }

  // Returns the columns that the tile needs next, or the first columns of the thread's next tile.
  PairVectors next_columns(std::int64_t block, std::int64_t group, std::int64_t column_tile) const {
    const std::int64_t first = column_tile * plan.tile_groups,
                       last = std::min(first + plan.tile_groups, plan.column_groups);
    if (group + 1 < last) return plan.vectors(columns, group + 1, plan.depth_begin(block));
    if (block + 1 < plan.depth_blocks)
      return plan.vectors(columns, first, plan.depth_begin(block + 1));
    const std::int64_t next = row_tiles() > 1 ? first : first + threads * plan.tile_groups;
    return next < plan.column_groups ? plan.vectors(columns, next, 0) : PairVectors{};
  }

  // `fetched`: what the multiplications prefetch.
  void add_piece(std::int64_t block, std::int64_t row_panel, std::int64_t group,
                 const std::array<const std::uint32_t*, 2>& fetched, float* aside) const {
    HWY_ALIGN float sums[kPairRows * kPieceStride];
    const std::int64_t begin = plan.depth_begin(block), end = plan.depth_begin(block + 1);
    const std::int64_t row = row_panel * kPairRows, column = group * kPieceStride;
    const std::int64_t row_count = std::min(kPairRows, plan.shape.m - row);
    PairVectors here = plan.vectors(columns, group, begin);
    std::ranges::copy(fetched, here.ahead);
    multiply({rows + plan.rows_offset(row_panel, begin), row_count}, here, end - begin, sums);
    result.add({sums, row, column, row_count, std::min(kPieceStride, plan.shape.n - column),
                block == 0, block + 1 == plan.depth_blocks},
               aside);
  }

  void compute_tile(std::int64_t row_tile, std::int64_t column_tile) const {
    constexpr std::int64_t kPieceFloats = kPairRows * kPieceStride;
    HWY_ALIGN static thread_local float aside[kTileGroups * kTileRowPanels * kPieceFloats];
    const std::int64_t first_row = row_tile * kTileRowPanels,
                       last_row = std::min(first_row + kTileRowPanels, plan.row_panels);
    const std::int64_t first_group = column_tile * plan.tile_groups,
                       last_group = std::min(first_group + plan.tile_groups, plan.column_groups);
    for (std::int64_t block = 0; block < plan.depth_blocks; ++block) {
      for (std::int64_t group = first_group; group < last_group; ++group) {
        const PairVectors next = next_columns(block, group, column_tile);
        for (std::int64_t row = first_row; row < last_row; ++row) {
          // With a single block, one buffer serves all pieces and stays in the L1 cache.
          const std::int64_t piece =
              plan.depth_blocks == 1 ? 0 : (group - first_group) * kTileRowPanels + row - first_row;
          add_piece(block, row, group, fetched_by(row - first_row, last_row - first_row, next),
                    aside + piece * kPieceFloats);
        }
      }
    }
  }
};

template <class Result>
void compute(ThreadPool& pool, const PairPlan& plan, const std::uint32_t* rows,
             const std::uint32_t* columns, const Result& result) {
  const PairProduct<Result> product{plan, pair_multiplier(), rows, columns, result, pool.threads()};
  const std::int64_t row_tiles = product.row_tiles();
  parallel_ranges(pool, row_tiles * ceil_div(plan.column_groups, plan.tile_groups), 1,
                  [&](std::int64_t begin, std::int64_t end) {
                    for (std::int64_t i = begin; i < end; ++i)
                      product.compute_tile(i % row_tiles, i / row_tiles);
                  });
}

std::uint32_t* workspace_or_own(std::uint32_t* workspace, std::size_t words) {
  static thread_local Scratch scratch;
  return workspace != nullptr ? workspace : reinterpret_cast<std::uint32_t*>(scratch.floats(words));
}

void pack_columns(ThreadPool& pool, const PairPlan& plan, const Bf16Matrix& b,
                  std::uint32_t* packed) {
  pack_lines(pool, plan, columns_of(b, plan.shape), {packed, kPackedRows, plan.pairs});
}

void multiply_floats(ThreadPool& pool, const GemmShape& shape, const float* a,
                     std::int64_t a_stride, const std::uint8_t* codes, float* c,
                     std::int64_t c_stride, const Epilogue& epilogue, std::uint32_t* workspace) {
  const PairPlan plan(shape);
  workspace = workspace_or_own(workspace, gemm_bf16_workspace_words(shape.m, shape.k));
  pack_lines(pool, plan, {a, nullptr, a_stride, 1, shape.m, shape.k},
             {workspace, kPairRows, plan.pairs});
  compute(pool, plan, workspace, reinterpret_cast<const std::uint32_t*>(codes),
          FloatResult{c, c_stride, epilogue});
}

// `columns`: B packed; null: `b` is packed here.
void multiply_halves(ThreadPool& pool, const GemmShape& shape, const Bf16Matrix& a,
                     const Bf16Matrix& b, const std::uint32_t* columns, std::uint16_t* c,
                     std::int64_t c_stride, const Bf16Epilogue& epilogue,
                     std::uint32_t* workspace) {
  const PairPlan plan(shape);
  const std::size_t of_rows = gemm_bf16_workspace_words(shape.m, shape.k);
  workspace =
      workspace_or_own(workspace, columns != nullptr ? of_rows : gemm_bf16_workspace_words(shape));
  pack_lines(pool, plan, rows_of(a, shape), {workspace, kPairRows, plan.pairs});
  if (columns == nullptr) {
    pack_columns(pool, plan, b, workspace + of_rows);
    columns = workspace + of_rows;
  }
  compute(pool, plan, workspace, columns, Bf16Result{c, c_stride, epilogue});
}

void pack_right(ThreadPool& pool, std::int64_t n, std::int64_t k, const Bf16Matrix& b,
                std::uint32_t* packed) {
  pack_columns(pool, PairPlan({0, n, k}), b, packed);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace hone::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hone::kernels {
namespace {

HWY_EXPORT(multiply_floats);
HWY_EXPORT(multiply_halves);
HWY_EXPORT(pack_right);

std::size_t words_of(std::int64_t lines, std::int64_t width, std::int64_t k) {
  return static_cast<std::size_t>((lines + width - 1) / width * width * ((k + 1) / 2));
}

void check(const Bf16Matrix& matrix) {
  HONE_ASSERT(matrix.row_stride == 1 || matrix.column_stride == 1, "gemm_bf16 strides {} and {}",
              matrix.row_stride, matrix.column_stride);
}

}  // namespace

void gemm_bf16(ThreadPool& pool, const GemmShape& shape, const float* a, std::int64_t a_stride,
               const std::uint8_t* codes, float* c, std::int64_t c_stride, const Epilogue& epilogue,
               std::uint32_t* workspace) {
  if (shape.m == 0 || shape.n == 0) return;
  HWY_DYNAMIC_DISPATCH(multiply_floats)
  (pool, shape, a, a_stride, codes, c, c_stride, epilogue, workspace);
}

std::size_t gemm_bf16_workspace_words(std::int64_t m, std::int64_t k) {
  return words_of(m, kPairRows, k);
}

void gemm_bf16(ThreadPool& pool, const GemmShape& shape, const Bf16Matrix& a, const Bf16Matrix& b,
               std::uint16_t* c, std::int64_t c_stride, const Bf16Epilogue& epilogue,
               std::uint32_t* workspace) {
  check(a);
  check(b);
  if (shape.m == 0 || shape.n == 0) return;
  HWY_DYNAMIC_DISPATCH(multiply_halves)
  (pool, shape, a, b, nullptr, c, c_stride, epilogue, workspace);
}

std::size_t gemm_bf16_workspace_words(const GemmShape& shape) {
  return gemm_bf16_workspace_words(shape.m, shape.k) + gemm_bf16_packed_words(shape.n, shape.k);
}

std::size_t gemm_bf16_packed_words(std::int64_t n, std::int64_t k) {
  return words_of(n, kPackedRows, k);
}

void gemm_bf16_pack(ThreadPool& pool, std::int64_t n, std::int64_t k, const Bf16Matrix& b,
                    std::uint32_t* packed) {
  check(b);
  HWY_DYNAMIC_DISPATCH(pack_right)(pool, n, k, b, packed);
}

void gemm_bf16_packed(ThreadPool& pool, const GemmShape& shape, const Bf16Matrix& a,
                      const std::uint32_t* packed, std::uint16_t* c, std::int64_t c_stride,
                      const Bf16Epilogue& epilogue, std::uint32_t* workspace) {
  check(a);
  if (shape.m == 0 || shape.n == 0) return;
  HWY_DYNAMIC_DISPATCH(multiply_halves)
  (pool, shape, a, {}, packed, c, c_stride, epilogue, workspace);
}

}  // namespace hone::kernels
#endif  // HWY_ONCE
