// Both operands are packed as pairs of neighbours in K: A, once, into panels of 8 rows, B into panels of 32 columns, as files
// have weights. A chunk computes a tile of 128 rows by 4 groups of columns, 48 each, one block of K after the other, so that the
// block of B (295 KB), that of A (196 KB) and the sums of the tile (98 KB), which every block of K adds to, stay in a second
// cache of 1 MB. A piece of 8 rows by one group is summed in registers (bf16_products.h, or below with fused multiply-adds), and
// added to its sums from the first cache.
#include "hone/kernels/gemm_bf16.h"

#include <algorithm>

#include "hone/base/error.h"
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

/// An operand of which lines are packed, rows of A or columns of B: floats, each line in one run, or bfloat16.
struct PairLines {
  const float* floats;
  const std::uint16_t* halves;
  std::int64_t line_stride, depth_stride;
  std::int64_t lines, depth;

  static PairLines rows_of(const Bf16Matrix& a, const GemmShape& shape) {
    return {nullptr, a.data, a.row_stride, a.column_stride, shape.m, shape.k};
  }
  static PairLines columns_of(const Bf16Matrix& b, const GemmShape& shape) {
    return {nullptr, b.data, b.column_stride, b.row_stride, shape.n, shape.k};
  }
};

// Panels of `width` lines: pair l of line i of a panel at [l * width + i]. Missing lines and the last half of an odd depth
// are zero.
struct PairPanels {
  std::uint32_t* data;
  std::int64_t width;
  std::int64_t pairs;

  std::uint32_t* at(std::int64_t line, std::int64_t pair) const {
    return data + (line / width * pairs + pair) * width + line % width;
  }
};

// Lines that lie in one run: the pairs [begin, end) of up to kPairRows of them.
void pack_runs(const PairLines& source, std::int64_t first, std::int64_t begin, std::int64_t end,
               const PairPanels& panels) {
  HWY_ALIGN static thread_local std::uint32_t runs[kPairRows * kMostPairs];
  const std::int64_t pairs = end - begin, values = std::min(2 * end, source.depth) - 2 * begin;
  const std::int64_t count = std::min(kPairRows, source.lines - first);
  for (std::int64_t i = 0; i < count; ++i) {
    auto* const run = reinterpret_cast<std::uint16_t*>(runs + i * pairs);
    const std::int64_t from = (first + i) * source.line_stride + 2 * begin;
    if (source.floats != nullptr)
      narrow_range(values, source.floats + from, run,
                   [](Bits d, BitsVec v) HWY_ATTR { return to_bfloat16(d, v); });
    else
      std::copy_n(source.halves + from, values, run);
    if (values < 2 * pairs) run[values] = 0;
  }
  // Pairs move as floats do.
  std::uint32_t* const to = panels.at(first, begin);
  transpose_block(reinterpret_cast<const float*>(runs), pairs, count, pairs,
                  reinterpret_cast<float*>(to), panels.width);
  for (std::int64_t l = 0; count < kPairRows && l < pairs; ++l)
    std::fill(to + l * panels.width + count, to + l * panels.width + kPairRows, 0u);
}

// Lines that lie side by side: the pairs [begin, end) of up to `kPackedRows` of them.
void pack_neighbours(const PairLines& source, std::int64_t first, std::int64_t begin,
                     std::int64_t end, const PairPanels& panels) {
  const hn::CappedTag<std::uint32_t, kPairRows> words;
  const hn::Rebind<std::uint16_t, decltype(words)> halves;
  constexpr auto kWidth = static_cast<std::int64_t>(hn::MaxLanes(words));
  constexpr std::int64_t kAhead = 8;  // rows, which are no stream that a processor sees by itself
  const std::int64_t count = std::min(kPackedRows, source.lines - first);
  for (std::int64_t l = begin; l < end; ++l) {
    const std::uint16_t* const even = source.halves + first + 2 * l * source.depth_stride;
    const bool has_odd = 2 * l + 1 < source.depth;
    const std::uint16_t* const odd = even + source.depth_stride;
    __builtin_prefetch(even + kAhead * source.depth_stride);
    __builtin_prefetch(odd + kAhead * source.depth_stride);
    std::int64_t i = 0;
    for (; has_odd && i + kPairRows <= count; i += kPairRows) {
      std::uint32_t* const to = panels.at(first + i, l);
      for (std::int64_t j = 0; j < kPairRows; j += kWidth) {
        const auto low = hn::PromoteTo(words, hn::LoadU(halves, even + i + j));
        const auto high = hn::PromoteTo(words, hn::LoadU(halves, odd + i + j));
        hn::StoreU(hn::Or(low, hn::ShiftLeft<16>(high)), words, to + j);
      }
    }
    for (; i < count; ++i)
      *panels.at(first + i, l) = even[i] | (has_odd ? std::uint32_t{odd[i]} << 16 : 0u);
    for (; i % panels.width != 0; ++i) *panels.at(first + i, l) = 0;
  }
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

// A piece of the result, and which of its sums these are.
struct PieceOfSums {
  const float* sums;  // rows of kPieceStride
  std::int64_t row, column;
  std::int64_t rows, columns;
  bool first, last;
};

/// Sums are added up where they shall stand.
struct FloatResult {
  float* c;
  std::int64_t c_stride;
  const Epilogue& epilogue;

  void add(const PieceOfSums& p, float* /*aside*/) const {
    const Piece piece{
        c + p.row * c_stride + p.column, c_stride, p.row, p.column, p.rows, p.columns};
    add_sums(p.sums, kPieceStride, piece, epilogue, p.first);
    if (p.last && epilogue.goes_on()) finish_piece(piece, epilogue);
  }
};

/// Sums are added up aside, and rounded when they are done.
struct Bf16Result {
  std::uint16_t* c;
  std::int64_t c_stride;
  const Bf16Epilogue& epilogue;

  // `aside` holds the piece's sums from one block to the next.
  void add(const PieceOfSums& p, float* aside) const {
    HWY_ALIGN float bias[kPieceStride];
    HWY_ALIGN float residual[kPairRows * kPieceStride];
    Epilogue in_floats{.activation = epilogue.activation, .residual_stride = kPieceStride};
    if (p.first && epilogue.bias != nullptr) {
      widen(p.columns, epilogue.bias + p.column, bias);
      in_floats.bias = bias;
    }
    const Piece piece{aside, kPieceStride, 0, 0, p.rows, p.columns};
    add_sums(p.sums, kPieceStride, piece, in_floats, p.first);
    if (!p.last) return;
    if (epilogue.residual != nullptr) {
      for (std::int64_t i = 0; i < p.rows; ++i)
        widen(p.columns, epilogue.residual + (p.row + i) * epilogue.residual_stride + p.column,
              residual + i * kPieceStride);
      in_floats.residual = residual;
    }
    if (in_floats.goes_on()) finish_piece(piece, in_floats);
    for (std::int64_t i = 0; i < p.rows; ++i)
      narrow_range(p.columns, aside + i * kPieceStride, c + (p.row + i) * c_stride + p.column,
                   [](Bits d, BitsVec v) HWY_ATTR { return to_bfloat16(d, v); });
  }

 private:
  static void widen(std::int64_t n, const std::uint16_t* x, float* y) {
    widen_range(n, x, y, [](Bits d, BitsVec v) HWY_ATTR { return from_bfloat16(d, v); });
  }
};

// One product at work.
template <class Result>
struct PairProduct {
  const PairPlan& plan;
  MultiplyPairs multiply;
  const std::uint32_t* rows;
  const std::uint32_t* columns;
  Result result;

  void add_piece(std::int64_t block, std::int64_t row_panel, std::int64_t group,
                 float* aside) const {
    HWY_ALIGN float sums[kPairRows * kPieceStride];
    const std::int64_t begin = plan.depth_begin(block), end = plan.depth_begin(block + 1);
    const std::int64_t row = row_panel * kPairRows, column = group * kPieceStride;
    const std::int64_t row_count = std::min(kPairRows, plan.shape.m - row);
    multiply({rows + plan.rows_offset(row_panel, begin), row_count},
             plan.vectors(columns, group, begin), end - begin, sums);
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
        for (std::int64_t row = first_row; row < last_row; ++row) {
          // Where there is one block alone, the place stays in the first cache.
          const std::int64_t piece =
              plan.depth_blocks == 1 ? 0 : (group - first_group) * kTileRowPanels + row - first_row;
          add_piece(block, row, group, aside + piece * kPieceFloats);
        }
      }
    }
  }
};

template <class Result>
void compute(ThreadPool& pool, const PairPlan& plan, const std::uint32_t* rows,
             const std::uint32_t* columns, const Result& result) {
  const bool by_pairs = hn::MaxLanes(Floats()) == kPairColumns && has_bf16_products();
  const PairProduct<Result> product{plan, by_pairs ? multiply_bf16_pairs : multiply_pairs_plainly,
                                    rows, columns, result};
  const std::int64_t row_tiles = ceil_div(plan.row_panels, kTileRowPanels);
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
  pack_lines(pool, plan, PairLines::columns_of(b, plan.shape), {packed, kPackedRows, plan.pairs});
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

// `columns`: B packed; null: of `b`.
void multiply_halves(ThreadPool& pool, const GemmShape& shape, const Bf16Matrix& a,
                     const Bf16Matrix& b, const std::uint32_t* columns, std::uint16_t* c,
                     std::int64_t c_stride, const Bf16Epilogue& epilogue,
                     std::uint32_t* workspace) {
  const PairPlan plan(shape);
  const std::size_t of_rows = gemm_bf16_workspace_words(shape.m, shape.k);
  workspace =
      workspace_or_own(workspace, columns != nullptr ? of_rows : gemm_bf16_workspace_words(shape));
  pack_lines(pool, plan, PairLines::rows_of(a, shape), {workspace, kPairRows, plan.pairs});
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
