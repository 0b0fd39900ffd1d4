// Both operands are packed as pairs of neighbours in K: A, once, into panels of 8 rows, W into panels of up to 48 columns. A
// chunk computes a tile of 128 rows by 8 panels of columns, one block of K after the other, so that the block of W (590 KB)
// and that of A (196 KB) stay in the second cache. A piece of 8 rows by one panel is summed in registers (bf16_products.h, or
// below with fused multiply-adds), and added to C from the first cache.
#include "hone/kernels/gemm_bf16.h"

#include <algorithm>

#include "hone/kernels/bf16_products.h"
#include "hone/kernels/scratch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hone/kernels/gemm_bf16.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "hone/kernels/bfloat16-inl.h"
#include "hone/kernels/epilogue-inl.h"
#include "hone/kernels/transpose-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hone::kernels {
namespace HWY_NAMESPACE {
namespace {

constexpr std::int64_t kMostPairs = 384;
constexpr std::int64_t kTilePanels = 8;      // of columns
constexpr std::int64_t kTileRowPanels = 16;  // of rows

constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

// How a product is cut; a function of its sizes alone.
struct PairPlan {
  GemmShape shape;
  std::int64_t pairs, depth_blocks, row_panels, column_panels;

  explicit PairPlan(const GemmShape& sizes)
      : shape(sizes),
        pairs(ceil_div(sizes.k, 2)),
        depth_blocks(std::max<std::int64_t>(1, ceil_div(pairs, kMostPairs))),
        row_panels(ceil_div(sizes.m, kPairRows)),
        column_panels(ceil_div(sizes.n, kPieceStride)) {}

  std::int64_t depth_begin(std::int64_t block) const { return pairs * block / depth_blocks; }
  // Vectors of columns in a panel.
  std::int64_t vectors(std::int64_t panel) const {
    return std::min(kMostPairVectors, ceil_div(shape.n - panel * kPieceStride, kPairColumns));
  }
  std::int64_t columns_offset(std::int64_t panel, std::int64_t pair) const {
    return panel * kPieceStride * pairs + pair * vectors(panel) * kPairColumns;
  }
  std::int64_t rows_offset(std::int64_t panel, std::int64_t pair) const {
    return (panel * pairs + pair) * kPairRows;
  }
};

// Of bfloat16 that products of pairs take for zero, zero.
HWY_INLINE BitsVec to_normal_bfloat16(Bits d, BitsVec v) {
  const BitsVec half = to_bfloat16(d, v);
  const auto is_normal = hn::Gt(hn::And(half, hn::Set(d, 0x7fffu)), hn::Set(d, 0x007fu));
  return hn::And(half, hn::IfThenElse(is_normal, hn::Set(d, 0xffffu), hn::Set(d, 0x8000u)));
}

// The pairs [begin, end) of `count` lines of k floats, as panel[(l - begin) * width + i]; missing lines and the last half of
// an odd k are zero.
void pack_pairs(const float* lines, std::int64_t line_stride, std::int64_t count, std::int64_t k,
                std::int64_t begin, std::int64_t end, std::int64_t width, std::uint32_t* panel) {
  HWY_ALIGN static thread_local std::uint32_t rounded[kPieceStride * kMostPairs];
  const std::int64_t pairs = end - begin, values = std::min(2 * end, k) - 2 * begin;
  for (std::int64_t i = 0; i < count; ++i) {
    auto* const line = reinterpret_cast<std::uint16_t*>(rounded + i * pairs);
    narrow_range(values, lines + i * line_stride + 2 * begin, line,
                 [](Bits d, BitsVec v) HWY_ATTR { return to_normal_bfloat16(d, v); });
    if (values < 2 * pairs) line[values] = 0;
  }
  // Pairs move as floats do.
  transpose_block(reinterpret_cast<const float*>(rounded), pairs, count, pairs,
                  reinterpret_cast<float*>(panel), width);
  for (std::int64_t l = 0; count < width && l < pairs; ++l)
    std::fill(panel + l * width + count, panel + (l + 1) * width, 0u);
}

void pack_columns(ThreadPool& pool, const GemmShape& shape, const float* w, std::uint32_t* packed) {
  const PairPlan plan(shape);
  parallel_ranges(
      pool, plan.column_panels * plan.depth_blocks, 4, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t i = first; i < last; ++i) {
          const std::int64_t panel = i / plan.depth_blocks, block = i % plan.depth_blocks;
          const std::int64_t column = panel * kPieceStride, begin = plan.depth_begin(block);
          pack_pairs(w + column * shape.k, shape.k, std::min(kPieceStride, shape.n - column),
                     shape.k, begin, plan.depth_begin(block + 1),
                     plan.vectors(panel) * kPairColumns,
                     packed + plan.columns_offset(panel, begin));
        }
      });
}

void pack_rows(ThreadPool& pool, const PairPlan& plan, const float* a, std::int64_t a_stride,
               std::uint32_t* packed) {
  parallel_ranges(
      pool, plan.row_panels * plan.depth_blocks, 16, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t i = first; i < last; ++i) {
          const std::int64_t panel = i / plan.depth_blocks, block = i % plan.depth_blocks;
          const std::int64_t row = panel * kPairRows, begin = plan.depth_begin(block);
          pack_pairs(a + row * a_stride, a_stride, std::min(kPairRows, plan.shape.m - row),
                     plan.shape.k, begin, plan.depth_begin(block + 1), kPairRows,
                     packed + plan.rows_offset(panel, begin));
        }
      });
}

// `multiply_bf16_pairs` with fused multiply-adds of float.
void multiply_pairs_plainly(const std::uint32_t* rows, const std::uint32_t* columns,
                            std::int64_t pairs, std::int64_t vectors, float* sums) {
  constexpr auto kWidth = static_cast<std::int64_t>(hn::MaxLanes(Floats()));
  constexpr std::int64_t kParts = kPairColumns / kWidth, kRowsAtOnce = 4;
  const Floats d;
  const Bits bits;
  const auto upper = [&](BitsVec pair) HWY_ATTR {
    return hn::BitCast(d, hn::And(pair, hn::Set(bits, 0xffff0000u)));
  };
  const auto lower = [&](BitsVec pair) HWY_ATTR { return hn::BitCast(d, hn::ShiftLeft<16>(pair)); };
  for (std::int64_t column = 0; column < vectors * kPairColumns; column += kPairColumns) {
    for (std::int64_t row = 0; row < kPairRows; row += kRowsAtOnce) {
      hn::Vec<Floats> sum[kRowsAtOnce][kParts];
#pragma GCC unroll 4
      for (std::int64_t i = 0; i < kRowsAtOnce; ++i) {
#pragma GCC unroll 4
        for (std::int64_t j = 0; j < kParts; ++j) sum[i][j] = hn::Zero(d);
      }
      for (std::int64_t l = 0; l < pairs; ++l) {
        const std::uint32_t* const at = columns + l * vectors * kPairColumns + column;
#pragma GCC unroll 4
        for (std::int64_t j = 0; j < kParts; ++j) {
          const BitsVec right = hn::LoadU(bits, at + j * kWidth);
#pragma GCC unroll 4
          for (std::int64_t i = 0; i < kRowsAtOnce; ++i) {
            const BitsVec left = hn::Set(bits, rows[l * kPairRows + row + i]);
            sum[i][j] = hn::MulAdd(upper(left), upper(right), sum[i][j]);
            sum[i][j] = hn::MulAdd(lower(left), lower(right), sum[i][j]);
          }
        }
      }
#pragma GCC unroll 4
      for (std::int64_t i = 0; i < kRowsAtOnce; ++i) {
#pragma GCC unroll 4
        for (std::int64_t j = 0; j < kParts; ++j)
          hn::StoreU(sum[i][j], d, sums + (row + i) * kPieceStride + column + j * kWidth);
      }
    }
  }
}

using MultiplyPairs = void (*)(const std::uint32_t*, const std::uint32_t*, std::int64_t,
                               std::int64_t, float*);

// One product at work.
struct PairProduct {
  const PairPlan& plan;
  MultiplyPairs multiply;
  const std::uint32_t* rows;
  const std::uint32_t* columns;
  float* c;
  std::int64_t c_stride;
  const Epilogue& epilogue;

  void add_piece(std::int64_t block, std::int64_t row_panel, std::int64_t column_panel) const {
    HWY_ALIGN float sums[kPairRows * kPieceStride];
    const std::int64_t begin = plan.depth_begin(block), end = plan.depth_begin(block + 1);
    const std::int64_t row = row_panel * kPairRows, column = column_panel * kPieceStride;
    const Piece piece{c + row * c_stride + column,
                      c_stride,
                      row,
                      column,
                      std::min(kPairRows, plan.shape.m - row),
                      std::min(kPieceStride, plan.shape.n - column)};
    multiply(rows + plan.rows_offset(row_panel, begin),
             columns + plan.columns_offset(column_panel, begin), end - begin,
             plan.vectors(column_panel), sums);
    add_sums(sums, kPieceStride, piece, epilogue, block == 0);
    if (block + 1 == plan.depth_blocks && epilogue.goes_on()) finish_piece(piece, epilogue);
  }

  void compute_tile(std::int64_t row_tile, std::int64_t column_tile) const {
    const std::int64_t first_row = row_tile * kTileRowPanels,
                       last_row = std::min(first_row + kTileRowPanels, plan.row_panels);
    const std::int64_t first_column = column_tile * kTilePanels,
                       last_column = std::min(first_column + kTilePanels, plan.column_panels);
    for (std::int64_t block = 0; block < plan.depth_blocks; ++block) {
      for (std::int64_t column = first_column; column < last_column; ++column) {
        for (std::int64_t row = first_row; row < last_row; ++row) add_piece(block, row, column);
      }
    }
  }
};

void multiply(ThreadPool& pool, const GemmShape& shape, const float* a, std::int64_t a_stride,
              const std::uint32_t* packed, float* c, std::int64_t c_stride,
              const Epilogue& epilogue, std::uint32_t* workspace) {
  static thread_local Scratch scratch;
  const PairPlan plan(shape);
  if (workspace == nullptr)
    workspace = reinterpret_cast<std::uint32_t*>(
        scratch.floats(gemm_bf16_workspace_words(shape.m, shape.k)));
  pack_rows(pool, plan, a, a_stride, workspace);
  const bool by_pairs = hn::MaxLanes(Floats()) == kPairColumns && has_bf16_products();
  const PairProduct product{plan,      by_pairs ? multiply_bf16_pairs : multiply_pairs_plainly,
                            workspace, packed,
                            c,         c_stride,
                            epilogue};
  const std::int64_t row_tiles = ceil_div(plan.row_panels, kTileRowPanels);
  parallel_ranges(pool, row_tiles * ceil_div(plan.column_panels, kTilePanels), 1,
                  [&](std::int64_t begin, std::int64_t end) {
                    for (std::int64_t i = begin; i < end; ++i)
                      product.compute_tile(i % row_tiles, i / row_tiles);
                  });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace hone::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hone::kernels {
namespace {

HWY_EXPORT(pack_columns);
HWY_EXPORT(multiply);

std::int64_t rounded_up(std::int64_t value, std::int64_t unit) {
  return (value + unit - 1) / unit * unit;
}

}  // namespace

std::size_t gemm_bf16_packed_words(std::int64_t n, std::int64_t k) {
  return static_cast<std::size_t>(rounded_up(n, kPairColumns) * ((k + 1) / 2));
}

void gemm_bf16_pack(ThreadPool& pool, std::int64_t n, std::int64_t k, const float* w,
                    std::uint32_t* packed) {
  HWY_DYNAMIC_DISPATCH(pack_columns)(pool, {0, n, k}, w, packed);
}

void gemm_bf16(ThreadPool& pool, const GemmShape& shape, const float* a, std::int64_t a_stride,
               const std::uint32_t* packed, float* c, std::int64_t c_stride,
               const Epilogue& epilogue, std::uint32_t* workspace) {
  if (shape.m == 0 || shape.n == 0) return;
  HWY_DYNAMIC_DISPATCH(multiply)
  (pool, shape, a, a_stride, packed, c, c_stride, epilogue, workspace);
}

std::size_t gemm_bf16_workspace_words(std::int64_t m, std::int64_t k) {
  return static_cast<std::size_t>(rounded_up(m, kPairRows) * ((k + 1) / 2));
}

}  // namespace hone::kernels
#endif  // HWY_ONCE
