// Both operands are packed as pairs of neighbours in K: A, once, into panels of 8 rows, W as files have it. A chunk computes a
// tile of 128 rows by 4 groups of columns, 48 each, one block of K after the other, so that the block of W (295 KB), that of A
// (196 KB) and the tile of C (98 KB), which every block of K adds to, stay in a second cache of 1 MB. A piece of 8 rows by one
// group is summed in registers (bf16_products.h, or below with fused multiply-adds), and added to C from the first cache.
#include "hone/kernels/gemm_bf16.h"

#include <algorithm>

#include "hone/kernels/bf16_products.h"
#include "hone/kernels/packed_matrix.h"
#include "hone/kernels/scratch.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hone/kernels/gemm_bf16.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "hone/kernels/epilogue-inl.h"
#include "hone/kernels/half-inl.h"
#include "hone/kernels/transpose-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hone::kernels {
namespace HWY_NAMESPACE {
namespace {

constexpr std::int64_t kMostPairs = 384;
constexpr std::int64_t kTileRowPanels = 16;
constexpr std::int64_t kTileGroups = 4;
constexpr std::int64_t kFewTileGroups = 2;  // of a tile of one panel of rows, which has less to do
static_assert(kPairStride == kPackedRows);

constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

// How a product is cut; a function of its sizes alone.
struct PairPlan {
  GemmShape shape;
  std::int64_t pairs, depth_blocks, row_panels, column_groups, tile_groups;

  explicit PairPlan(const GemmShape& sizes)
      : shape(sizes),
        pairs(ceil_div(sizes.k, 2)),
        depth_blocks(std::max<std::int64_t>(1, ceil_div(pairs, kMostPairs))),
        row_panels(ceil_div(sizes.m, kPairRows)),
        column_groups(ceil_div(sizes.n, kPieceStride)),
        tile_groups(row_panels == 1 ? kFewTileGroups : kTileGroups) {}

  std::int64_t depth_begin(std::int64_t block) const { return pairs * block / depth_blocks; }
  std::int64_t rows_offset(std::int64_t panel, std::int64_t pair) const {
    return (panel * pairs + pair) * kPairRows;
  }
  // The columns of a group from a pair on, in panels of two vectors.
  PairVectors vectors(const std::uint32_t* packed, std::int64_t group, std::int64_t pair) const {
    PairVectors columns{
        {}, std::min(kMostPairVectors, ceil_div(shape.n - group * kPieceStride, kPairColumns))};
    for (std::int64_t v = 0; v < columns.count; ++v) {
      const std::int64_t vector = group * kMostPairVectors + v;
      columns.data[v] =
          packed + (vector / 2 * pairs + pair) * kPairStride + vector % 2 * kPairColumns;
    }
    return columns;
  }
};

// The pairs [begin, end) of `count` rows of k floats, as panel[(l - begin) * kPairRows + i]; missing rows and the last half of
// an odd k are zero.
void pack_pairs(const float* rows, std::int64_t row_stride, std::int64_t count, std::int64_t k,
                std::int64_t begin, std::int64_t end, std::uint32_t* panel) {
  HWY_ALIGN static thread_local std::uint32_t rounded[kPairRows * kMostPairs];
  const std::int64_t pairs = end - begin, values = std::min(2 * end, k) - 2 * begin;
  for (std::int64_t i = 0; i < count; ++i) {
    auto* const row = reinterpret_cast<std::uint16_t*>(rounded + i * pairs);
    narrow_range(values, rows + i * row_stride + 2 * begin, row,
                 [](Bits d, BitsVec v) HWY_ATTR { return to_bfloat16(d, v); });
    if (values < 2 * pairs) row[values] = 0;
  }
  // Pairs move as floats do.
  transpose_block(reinterpret_cast<const float*>(rounded), pairs, count, pairs,
                  reinterpret_cast<float*>(panel), kPairRows);
  for (std::int64_t l = 0; count < kPairRows && l < pairs; ++l)
    std::fill(panel + l * kPairRows + count, panel + (l + 1) * kPairRows, 0u);
}

void pack_rows(ThreadPool& pool, const PairPlan& plan, const float* a, std::int64_t a_stride,
               std::uint32_t* packed) {
  parallel_ranges(
      pool, plan.row_panels * plan.depth_blocks, 16, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t i = first; i < last; ++i) {
          const std::int64_t panel = i / plan.depth_blocks, block = i % plan.depth_blocks;
          const std::int64_t row = panel * kPairRows, begin = plan.depth_begin(block);
          pack_pairs(a + row * a_stride, a_stride, std::min(kPairRows, plan.shape.m - row),
                     plan.shape.k, begin, plan.depth_begin(block + 1),
                     packed + plan.rows_offset(panel, begin));
        }
      });
}

// While one is alive, sums that come below 2^-126 are zero, and so is what is added to them, as products of pairs have it.
class WithoutSubnormals {
#if defined(__x86_64__)
 public:
  WithoutSubnormals() : before_(_mm_getcsr()) { _mm_setcsr(before_ | kFlushed); }
  ~WithoutSubnormals() { _mm_setcsr(before_); }
  WithoutSubnormals(const WithoutSubnormals&) = delete;
  WithoutSubnormals& operator=(const WithoutSubnormals&) = delete;

 private:
  static constexpr unsigned kFlushed = 0x8040;  // results, operands
  unsigned before_;
#endif
};

// kRows rows by one vector of columns. A call of its own, for nothing of it may move to where subnormal numbers count.
template <int kRows>
HWY_NOINLINE void multiply_vector(const std::uint32_t* rows, const std::uint32_t* columns,
                                  std::int64_t pairs, float* sums) {
  constexpr auto kWidth = static_cast<std::int64_t>(hn::MaxLanes(Floats()));
  constexpr std::int64_t kParts = kPairColumns / kWidth;
  const Floats d;
  const Bits bits;
  const auto upper = [&](BitsVec pair) HWY_ATTR {
    return hn::BitCast(d, hn::And(pair, hn::Set(bits, 0xffff0000u)));
  };
  const auto lower = [&](BitsVec pair) HWY_ATTR { return hn::BitCast(d, hn::ShiftLeft<16>(pair)); };
  hn::Vec<Floats> sum[kRows][kParts];
#pragma GCC unroll 4
  for (std::int64_t i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
    for (std::int64_t j = 0; j < kParts; ++j) sum[i][j] = hn::Zero(d);
  }
  for (std::int64_t l = 0; l < pairs; ++l) {
#pragma GCC unroll 4
    for (std::int64_t j = 0; j < kParts; ++j) {
      const BitsVec right = hn::LoadU(bits, columns + l * kPairStride + j * kWidth);
#pragma GCC unroll 4
      for (std::int64_t i = 0; i < kRows; ++i) {
        const BitsVec left = hn::Set(bits, rows[l * kPairRows + i]);
        sum[i][j] = hn::MulAdd(upper(left), upper(right), sum[i][j]);
        sum[i][j] = hn::MulAdd(lower(left), lower(right), sum[i][j]);
      }
    }
  }
#pragma GCC unroll 4
  for (std::int64_t i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
    for (std::int64_t j = 0; j < kParts; ++j)
      hn::StoreU(sum[i][j], d, sums + i * kPieceStride + j * kWidth);
  }
}

// `multiply_bf16_pairs` with fused multiply-adds of float.
void multiply_pairs_plainly(const PairRows& rows, const PairVectors& columns, std::int64_t pairs,
                            float* sums) {
  constexpr std::int64_t kTogether = 4;
  [[maybe_unused]] const WithoutSubnormals as_pairs_have_it{};
  for (std::int64_t v = 0; v < columns.count; ++v) {
    float* const at = sums + v * kPairColumns;
    if (rows.count == 1) {
      multiply_vector<1>(rows.data, columns.data[v], pairs, at);
      continue;
    }
    for (std::int64_t row = 0; row < rows.count; row += kTogether)
      multiply_vector<kTogether>(rows.data + row, columns.data[v], pairs, at + row * kPieceStride);
  }
}

using MultiplyPairs = void (*)(const PairRows&, const PairVectors&, std::int64_t, float*);

// One product at work.
struct PairProduct {
  const PairPlan& plan;
  MultiplyPairs multiply;
  const std::uint32_t* rows;
  const std::uint32_t* columns;
  float* c;
  std::int64_t c_stride;
  const Epilogue& epilogue;

  void add_piece(std::int64_t block, std::int64_t row_panel, std::int64_t group) const {
    HWY_ALIGN float sums[kPairRows * kPieceStride];
    const std::int64_t begin = plan.depth_begin(block), end = plan.depth_begin(block + 1);
    const std::int64_t row = row_panel * kPairRows, column = group * kPieceStride;
    const Piece piece{c + row * c_stride + column,
                      c_stride,
                      row,
                      column,
                      std::min(kPairRows, plan.shape.m - row),
                      std::min(kPieceStride, plan.shape.n - column)};
    multiply({rows + plan.rows_offset(row_panel, begin), piece.rows},
             plan.vectors(columns, group, begin), end - begin, sums);
    add_sums(sums, kPieceStride, piece, epilogue, block == 0);
    if (block + 1 == plan.depth_blocks && epilogue.goes_on()) finish_piece(piece, epilogue);
  }

  void compute_tile(std::int64_t row_tile, std::int64_t column_tile) const {
    const std::int64_t first_row = row_tile * kTileRowPanels,
                       last_row = std::min(first_row + kTileRowPanels, plan.row_panels);
    const std::int64_t first_group = column_tile * plan.tile_groups,
                       last_group = std::min(first_group + plan.tile_groups, plan.column_groups);
    for (std::int64_t block = 0; block < plan.depth_blocks; ++block) {
      for (std::int64_t group = first_group; group < last_group; ++group) {
        for (std::int64_t row = first_row; row < last_row; ++row) add_piece(block, row, group);
      }
    }
  }
};

void multiply(ThreadPool& pool, const GemmShape& shape, const float* a, std::int64_t a_stride,
              const std::uint8_t* codes, float* c, std::int64_t c_stride, const Epilogue& epilogue,
              std::uint32_t* workspace) {
  static thread_local Scratch scratch;
  const PairPlan plan(shape);
  if (workspace == nullptr)
    workspace = reinterpret_cast<std::uint32_t*>(
        scratch.floats(gemm_bf16_workspace_words(shape.m, shape.k)));
  pack_rows(pool, plan, a, a_stride, workspace);
  const bool by_pairs = hn::MaxLanes(Floats()) == kPairColumns && has_bf16_products();
  const PairProduct product{plan,      by_pairs ? multiply_bf16_pairs : multiply_pairs_plainly,
                            workspace, reinterpret_cast<const std::uint32_t*>(codes),
                            c,         c_stride,
                            epilogue};
  const std::int64_t row_tiles = ceil_div(plan.row_panels, kTileRowPanels);
  parallel_ranges(pool, row_tiles * ceil_div(plan.column_groups, plan.tile_groups), 1,
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

HWY_EXPORT(multiply);

std::int64_t rounded_up(std::int64_t value, std::int64_t unit) {
  return (value + unit - 1) / unit * unit;
}

}  // namespace

void gemm_bf16(ThreadPool& pool, const GemmShape& shape, const float* a, std::int64_t a_stride,
               const std::uint8_t* codes, float* c, std::int64_t c_stride, const Epilogue& epilogue,
               std::uint32_t* workspace) {
  if (shape.m == 0 || shape.n == 0) return;
  HWY_DYNAMIC_DISPATCH(multiply)
  (pool, shape, a, a_stride, codes, c, c_stride, epilogue, workspace);
}

std::size_t gemm_bf16_workspace_words(std::int64_t m, std::int64_t k) {
  return static_cast<std::size_t>(rounded_up(m, kPairRows) * ((k + 1) / 2));
}

}  // namespace hone::kernels
#endif  // HWY_ONCE
