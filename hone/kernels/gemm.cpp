// A blocked product in the manner of GotoBLAS and BLIS (Goto and van de Geijn, "Anatomy of
// high-performance matrix multiplication", 2008). K is cut into blocks of at most kGemmDepth. For every
// block B is packed into panels of up to three vectors of columns: by all threads, once, before
// chunks compute tiles of C; or, where so few rows stand in A that one tile holds them, by the only
// chunk that needs the panel, just before it does and into its own cache, for then the weights of a
// layer are read once and written nowhere. Rows of A are read in place where they are contiguous,
// otherwise every chunk packs its own into panels of kPanelRows rows. The micro-kernel
// (gemm_tile-inl.h) keeps one panel by one panel of C in registers. B panels stream from L2, at most
// 192 bytes per 24 multiply-adds; rows of A stay in L1.
#include "hone/kernels/gemm.h"

#include <algorithm>

#include "hone/base/error.h"
#include "hone/kernels/grain.h"
#include "hone/kernels/scratch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hone/kernels/gemm.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "hone/kernels/epilogue-inl.h"
#include "hone/kernels/gemm_pack-inl.h"
#include "hone/kernels/gemm_tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hone::kernels {
namespace HWY_NAMESPACE {
namespace {

// First of the indices [0, total) that part `part` of `parts` nearly equal parts holds.
constexpr std::int64_t part_begin(std::int64_t total, std::int64_t parts, std::int64_t part) {
  return total * part / parts;
}

// How a product is cut; a function of its sizes alone.
struct Plan {
  GemmShape shape;
  std::int64_t depth_blocks;   // parts of K
  std::int64_t column_panels;  // parts of N, each of 1 to kPanelVectors vectors
  std::int64_t column_tiles;   // parts of the column panels
  std::int64_t tile_rows;

  std::int64_t depth_begin(std::int64_t block) const {
    return part_begin(shape.k, depth_blocks, block);
  }
  std::int64_t column_begin(std::int64_t panel) const {
    return part_begin(ceil_div(shape.n, kLanes), column_panels, panel) * kLanes;
  }
  std::int64_t panel_begin(std::int64_t tile) const {
    return part_begin(column_panels, column_tiles, tile);
  }
  std::int64_t row_tiles() const { return ceil_div(shape.m, tile_rows); }
  // Whether one chunk alone needs a panel of B.
  bool uses_b_once() const { return row_tiles() == 1; }
  std::int64_t padded_columns() const { return ceil_div(shape.n, kLanes) * kLanes; }
};

// Reuses a panel of B well.
constexpr std::int64_t kMaxTileRows = 128;

// Tiles shrink while there are few of them and each is still worth a chunk.
std::int64_t tile_rows_for(const GemmShape& shape, std::int64_t column_tiles) {
  constexpr std::int64_t kEnoughTiles = 16;
  constexpr std::int64_t kChunkWork = std::int64_t{1} << 21;  // multiply-adds
  std::int64_t rows = kMaxTileRows;
  while (rows > 32 && ceil_div(shape.m, rows) * column_tiles < kEnoughTiles &&
         rows * (shape.n / column_tiles) * shape.k > kChunkWork) {
    rows /= 2;
  }
  return rows;
}

// Each tile packs the rows of A that it needs where those are not contiguous: with few columns that takes longer than it saves.
Plan plan_for(const GemmShape& shape, bool a_transposed) {
  constexpr std::int64_t kTilePanels = 16;
  constexpr std::int64_t kTilePanelsOfFewRows = 2;
  constexpr std::int64_t kFewRowsTransposed = 32;
  Plan plan{};
  plan.shape = shape;
  plan.depth_blocks = std::max<std::int64_t>(1, ceil_div(shape.k, kGemmDepth));
  plan.column_panels = ceil_div(ceil_div(shape.n, kLanes), kPanelVectors);
  const bool few_rows = shape.m <= (a_transposed ? kFewRowsTransposed : kMaxTileRows);
  plan.column_tiles = ceil_div(plan.column_panels, few_rows ? kTilePanelsOfFewRows : kTilePanels);
  plan.tile_rows = few_rows ? kMaxTileRows : tile_rows_for(shape, plan.column_tiles);
  return plan;
}

// Adds the sums of a piece of C to what it starts from: itself, the bias of its columns, both or zero.
struct AddToPiece {
  float* c;
  std::int64_t c_stride;
  const float* bias;
  bool add_c;
  const float* residual = nullptr;  // what is added behind the sums, if anything
  std::int64_t residual_stride = 0;

  // C and its residual are needed only after the loop over K, time enough to fetch them.
  template <int kRows, int kVectors>
  HWY_INLINE void announce() const {
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 3
      for (int j = 0; j < kVectors; ++j) __builtin_prefetch(c + i * c_stride + j * kLanes, 1);
    }
    if (residual == nullptr) return;
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 3
      for (int j = 0; j < kVectors; ++j)
        __builtin_prefetch(residual + i * residual_stride + j * kLanes);
    }
  }

  template <int kRows, int kVectors>
  HWY_INLINE void take(const SumVector (&sum)[kRows][kVectors]) const {
    const Floats d;
#pragma GCC unroll 3
    for (int j = 0; j < kVectors; ++j) {
      const SumVector start = bias ? hn::LoadU(d, bias + j * kLanes) : hn::Zero(d);
#pragma GCC unroll 8
      for (int i = 0; i < kRows; ++i) {
        float* const to = c + i * c_stride + j * kLanes;
        SumVector value = hn::Add(sum[i][j], start);
        if (add_c) value = hn::Add(hn::LoadU(d, to), value);
        hn::StoreU(value, d, to);
      }
    }
  }
};

// B as it was given, and packed as a whole where that is done before: null where every chunk packs
// the panels it needs.
struct Right {
  ConstMatrix matrix;
  const float* packed;
  std::int64_t threads;  // that claim tiles: the next one of each is most often so many behind
};

// Packs panel `panel` of the columns of B for depth block `block`.
void pack_b(const Plan& plan, const ConstMatrix& b, std::int64_t block, std::int64_t panel,
            float* packed) {
  const std::int64_t depth_begin = plan.depth_begin(block);
  const std::int64_t depth = plan.depth_begin(block + 1) - depth_begin;
  const std::int64_t begin = plan.column_begin(panel);
  const std::int64_t width = plan.column_begin(panel + 1) - begin;
  const float* const from = b.data + depth_begin * b.row_stride + begin * b.column_stride;
  const Lines lines{from, b.column_stride, b.row_stride, std::min(width, plan.shape.n - begin)};
  pack_panel(lines, width, depth, packed);
}

// Where that panel lies in B packed as a whole.
std::int64_t panel_offset(const Plan& plan, std::int64_t block, std::int64_t panel) {
  const std::int64_t depth_begin = plan.depth_begin(block);
  const std::int64_t depth = plan.depth_begin(block + 1) - depth_begin;
  return depth_begin * plan.padded_columns() + plan.column_begin(panel) * depth;
}

// The panel, packed by now at the latest.
const float* packed_panel(const Plan& plan, const Right& right, std::int64_t block,
                          std::int64_t panel) {
  if (right.packed != nullptr) return right.packed + panel_offset(plan, block, panel);
  static thread_local Scratch scratch;
  float* const packed =
      scratch.floats(static_cast<std::size_t>(kPanelVectors * kLanes * kGemmDepth));
  pack_b(plan, right.matrix, block, panel, packed);
  return packed;
}

// So many floats of a panel are asked for before they are needed: 8 KiB, some microseconds of a memory that serves two cores.
constexpr std::int64_t kFetchedAhead = 2048;
// Several pieces of rows share a panel: the first of them fetch the next one, as slowly as keeps memory from being the
// only thing that they wait for.
constexpr std::int64_t kFetchingPieces = 3;

// The panel that a column tile needs behind this one, or that the next tile begins with, most often of the same columns;
// null: there is none.
const float* next_panel(const Plan& plan, const Right& right, std::int64_t block,
                        std::int64_t panel, std::int64_t column_tile) {
  const auto at = [&](std::int64_t b, std::int64_t p) {
    return right.packed + panel_offset(plan, b, p);
  };
  if (panel + 1 < plan.panel_begin(column_tile + 1)) return at(block, panel + 1);
  if (block + 1 < plan.depth_blocks) return at(block + 1, plan.panel_begin(column_tile));
  if (plan.row_tiles() > 1) return at(0, plan.panel_begin(column_tile));
  const std::int64_t next_tile = column_tile + right.threads;
  return next_tile < plan.column_tiles ? at(0, plan.panel_begin(next_tile)) : nullptr;
}

// Where results go and what they start from.
struct Destination {
  float* c;
  std::int64_t c_stride;
  Epilogue epilogue;
};

// The piece of `rows` rows and `columns` columns, which do not fill the panel of B: computed aside, then added.
void multiply_partial(const RowPanel& left, std::int64_t depth, const ColumnPanel& b,
                      std::int64_t rows, std::int64_t vectors, std::int64_t columns,
                      const AddToPiece& finish) {
  constexpr std::int64_t kStride = kPanelVectors * kLanes;
  HWY_ALIGN float piece[kPanelRows * kStride];
  micro_kernel<AddToPiece>(rows, vectors)(left, depth, b, {piece, kStride, nullptr, false});
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) {
      const float value = piece[i * kStride + j] + (finish.bias ? finish.bias[j] : 0.0f);
      float& to = finish.c[i * finish.c_stride + j];
      to = finish.add_c ? to + value : value;
    }
  }
}

// Adds the product over one depth block to the tile of C whose first row is `row_begin`.
void multiply_block(const Plan& plan, std::int64_t depth_block, const RowBlock& left,
                    const float* packed_a, const Right& right, const Destination& to,
                    std::int64_t row_begin, std::int64_t column_tile) {
  const bool first = depth_block == 0;
  const bool goes_on = depth_block + 1 == plan.depth_blocks && to.epilogue.goes_on();
  const std::int64_t pieces = ceil_div(left.rows, kPanelRows);
  const std::int64_t fetching = std::min(pieces, kFetchingPieces);
  for (std::int64_t panel = plan.panel_begin(column_tile);
       panel < plan.panel_begin(column_tile + 1); ++panel) {
    const std::int64_t column = plan.column_begin(panel);
    const std::int64_t width = plan.column_begin(panel + 1) - column;
    const std::int64_t columns = std::min(width, plan.shape.n - column);
    const float* const bias = first && to.epilogue.bias ? to.epilogue.bias + column : nullptr;
    const bool add_c = !first || to.epilogue.accumulate;
    const float* const residual =
        goes_on && to.epilogue.residual != nullptr
            ? to.epilogue.residual + row_begin * to.epilogue.residual_stride + column
            : nullptr;
    ColumnPanel b{packed_panel(plan, right, depth_block, panel)};
    if (right.packed != nullptr) {
      b.ahead = pieces > 1 ? next_panel(plan, right, depth_block, panel, column_tile)
                           : b.data + kFetchedAhead;
      b.ahead_step = ceil_div(width, fetching);
    }
    for (std::int64_t i = 0; i < left.rows; i += kPanelRows) {
      const std::int64_t rows = std::min<std::int64_t>(kPanelRows, left.rows - i);
      const RowPanel panel_of_a = row_panel(left, packed_a, i);
      AddToPiece finish{to.c + (row_begin + i) * to.c_stride + column, to.c_stride, bias, add_c};
      if (residual != nullptr) {
        finish.residual = residual + i * to.epilogue.residual_stride;
        finish.residual_stride = to.epilogue.residual_stride;
      }
      if (columns == width) {
        micro_kernel<AddToPiece>(rows, width / kLanes)(panel_of_a, left.depth, b, finish);
      } else {
        multiply_partial(panel_of_a, left.depth, b, rows, width / kLanes, columns, finish);
      }
      if (goes_on)
        finish_piece({finish.c, to.c_stride, row_begin + i, column, rows, columns}, to.epilogue);
      if (i / kPanelRows + 1 >= fetching)
        b.ahead = nullptr;
      else if (b.ahead != nullptr)
        b.ahead += b.ahead_step * left.depth;
    }
  }
}

// Computes the tile (row_tile, column_tile) of C over the whole of K.
void compute_tile(const Plan& plan, const ConstMatrix& a, const Right& right, const Destination& to,
                  std::int64_t row_tile, std::int64_t column_tile) {
  static thread_local Scratch scratch;
  float* const packed_a =
      scratch.floats(static_cast<std::size_t>((plan.tile_rows + kPanelRows) * kGemmDepth));
  const std::int64_t row_begin = row_tile * plan.tile_rows;
  const std::int64_t rows = std::min(plan.tile_rows, plan.shape.m - row_begin);
  for (std::int64_t block = 0; block < plan.depth_blocks; ++block) {
    const std::int64_t depth_begin = plan.depth_begin(block);
    const std::int64_t depth = plan.depth_begin(block + 1) - depth_begin;
    const float* const from = a.data + row_begin * a.row_stride + depth_begin * a.column_stride;
    const RowBlock left{from, a.row_stride, a.column_stride, rows, depth};
    if (!is_read_in_place(left)) pack_a(left, packed_a);
    multiply_block(plan, block, left, packed_a, right, to, row_begin, column_tile);
  }
}

// The pool to pack and compute with, or none: then the calling thread does it all.
template <class Body>
void for_chunks(ThreadPool* pool, std::int64_t count, std::int64_t grain, const Body& body) {
  if (pool != nullptr) return parallel_ranges(*pool, count, grain, body);
  if (count > 0) body(0, count);
}

std::int64_t threads_of(const ThreadPool* pool) { return pool != nullptr ? pool->threads() : 1; }

void pack_whole_b(ThreadPool* pool, const Plan& plan, const ConstMatrix& b, float* packed) {
  // Few panels are shared evenly, where each takes longer than to claim it.
  constexpr std::int64_t kFloatsPerChunk = 1 << 14;
  const std::int64_t panel_floats = kPanelVectors * kLanes * plan.depth_begin(1);
  for_chunks(pool, plan.depth_blocks * plan.column_panels,
             std::max<std::int64_t>(1, kFloatsPerChunk / std::max<std::int64_t>(1, panel_floats)),
             [&](std::int64_t begin, std::int64_t end) {
               for (std::int64_t i = begin; i < end; ++i) {
                 const std::int64_t block = i / plan.column_panels, panel = i % plan.column_panels;
                 pack_b(plan, b, block, panel, packed + panel_offset(plan, block, panel));
               }
             });
}

std::size_t packed_floats(const Plan& plan) {
  return static_cast<std::size_t>(plan.shape.k * plan.padded_columns());
}

std::size_t workspace_floats(const GemmShape& shape, bool a_transposed) {
  const Plan plan = plan_for(shape, a_transposed);
  return plan.uses_b_once() ? 0 : packed_floats(plan);
}

// B packed as a whole, into the workspace or what the thread keeps until its next product.
const float* packed_b(ThreadPool* pool, const Plan& plan, const ConstMatrix& b, float* workspace) {
  static thread_local Scratch scratch;
  float* const packed = workspace != nullptr ? workspace : scratch.floats(packed_floats(plan));
  pack_whole_b(pool, plan, b, packed);
  return packed;
}

void compute(ThreadPool* pool, const Plan& plan, const ConstMatrix& a, const Right& right,
             const Destination& to) {
  // Neighbouring chunks share a column tile, hence the part of packed B in the shared cache.
  for_chunks(pool, plan.row_tiles() * plan.column_tiles, 1,
             [&](std::int64_t begin, std::int64_t end) {
               for (std::int64_t i = begin; i < end; ++i)
                 compute_tile(plan, a, right, to, i % plan.row_tiles(), i / plan.row_tiles());
             });
}

void multiply(ThreadPool* pool, const GemmShape& shape, const ConstMatrix& a, const ConstMatrix& b,
              float* c, std::int64_t c_stride, const Epilogue& epilogue, float* workspace) {
  const Plan plan = plan_for(shape, a.column_stride != 1);
  const Right right{b, plan.uses_b_once() ? nullptr : packed_b(pool, plan, b, workspace),
                    threads_of(pool)};
  compute(pool, plan, a, right, {c, c_stride, epilogue});
}

std::size_t size_of_packed(std::int64_t n, std::int64_t k) {
  return packed_floats(plan_for({0, n, k}, false));
}

void pack_right(ThreadPool* pool, std::int64_t n, std::int64_t k, const ConstMatrix& b,
                float* packed) {
  pack_whole_b(pool, plan_for({0, n, k}, false), b, packed);
}

void multiply_packed(ThreadPool* pool, const GemmShape& shape, const ConstMatrix& a,
                     const float* packed, float* c, std::int64_t c_stride,
                     const Epilogue& epilogue) {
  compute(pool, plan_for(shape, a.column_stride != 1), a, {{}, packed, threads_of(pool)},
          {c, c_stride, epilogue});
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace hone::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hone::kernels {
namespace {

HWY_EXPORT(multiply);
HWY_EXPORT(workspace_floats);
HWY_EXPORT(size_of_packed);
HWY_EXPORT(pack_right);
HWY_EXPORT(multiply_packed);

// Products of fewer multiply-adds take less than a few microseconds: not worth a second thread.
constexpr std::int64_t kSmallWork = std::int64_t{1} << 18;
// Items of a batch above this are spread over the pool one by one.
constexpr std::int64_t kLargeWork = std::int64_t{1} << 27;

std::int64_t work_of(const GemmShape& shape) {
  return shape.m * shape.n * std::max<std::int64_t>(1, shape.k);
}

bool is_small(const GemmShape& shape) { return work_of(shape) <= kSmallWork; }
bool is_large(const GemmShape& shape) { return work_of(shape) > kLargeWork; }

void check(const ConstMatrix& matrix) {
  HONE_ASSERT(matrix.row_stride == 1 || matrix.column_stride == 1, "gemm strides {} and {}",
              matrix.row_stride, matrix.column_stride);
}

ConstMatrix item_of(const ConstMatrixBatch& batch, std::int64_t p, std::int64_t q) {
  ConstMatrix item = batch.first;
  item.data += p * batch.strides[0] + q * batch.strides[1];
  return item;
}

}  // namespace

void gemm(ThreadPool& pool, const GemmShape& shape, const ConstMatrix& a, const ConstMatrix& b,
          float* c, std::int64_t c_stride, const Epilogue& epilogue, float* workspace) {
  check(a);
  check(b);
  if (shape.m == 0 || shape.n == 0) return;
  ThreadPool* const threads = is_small(shape) ? nullptr : &pool;
  HWY_DYNAMIC_DISPATCH(multiply)
  (threads, shape, a, b, c, c_stride, epilogue, threads == nullptr ? nullptr : workspace);
}

void gemm_alone(const GemmShape& shape, const ConstMatrix& a, const ConstMatrix& b, float* c,
                std::int64_t c_stride, const Epilogue& epilogue) {
  check(a);
  check(b);
  if (shape.m == 0 || shape.n == 0) return;
  HWY_DYNAMIC_DISPATCH(multiply)(nullptr, shape, a, b, c, c_stride, epilogue, nullptr);
}

std::size_t gemm_workspace_floats(const GemmShape& shape, bool a_transposed) {
  if (shape.m == 0 || shape.n == 0 || is_small(shape)) return 0;
  return HWY_DYNAMIC_DISPATCH(workspace_floats)(shape, a_transposed);
}

std::size_t gemm_packed_floats(std::int64_t n, std::int64_t k) {
  return HWY_DYNAMIC_DISPATCH(size_of_packed)(n, k);
}

void gemm_pack(ThreadPool& pool, std::int64_t n, std::int64_t k, const ConstMatrix& b,
               float* packed) {
  check(b);
  HWY_DYNAMIC_DISPATCH(pack_right)(&pool, n, k, b, packed);
}

void gemm_packed(ThreadPool& pool, const GemmShape& shape, const ConstMatrix& a,
                 const float* packed, float* c, std::int64_t c_stride, const Epilogue& epilogue) {
  check(a);
  if (shape.m == 0 || shape.n == 0) return;
  ThreadPool* const threads = is_small(shape) ? nullptr : &pool;
  HWY_DYNAMIC_DISPATCH(multiply_packed)(threads, shape, a, packed, c, c_stride, epilogue);
}

void gemm_batched(ThreadPool& pool, const std::array<std::int64_t, 2>& batches,
                  const GemmShape& shape, const ConstMatrixBatch& a, const ConstMatrixBatch& b,
                  const MatrixBatch& c, float* workspace) {
  check(a.first);
  check(b.first);
  if (shape.m == 0 || shape.n == 0) return;
  const auto for_item = [&](std::int64_t item, auto&& product) {
    const std::int64_t p = item / batches[1];
    const std::int64_t q = item % batches[1];
    float* const to = c.first + p * c.strides[0] + q * c.strides[1];
    product(item_of(a, p, q), item_of(b, p, q), to);
  };
  const std::int64_t items = batches[0] * batches[1];
  if (is_large(shape)) {
    for (std::int64_t item = 0; item < items; ++item) {
      for_item(item, [&](const ConstMatrix& left, const ConstMatrix& right, float* to) {
        gemm(pool, shape, left, right, to, c.row_stride, {}, workspace);
      });
    }
    return;
  }
  const std::int64_t grain = std::max<std::int64_t>(1, kSmallWork / work_of(shape));
  parallel_ranges(pool, items, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t item = begin; item < end; ++item) {
      for_item(item, [&](const ConstMatrix& left, const ConstMatrix& right, float* to) {
        HWY_DYNAMIC_DISPATCH(multiply)(nullptr, shape, left, right, to, c.row_stride, {}, nullptr);
      });
    }
  });
}

std::size_t gemm_batched_workspace_floats(const GemmShape& shape) {
  // As much as A takes that is transposed: other ones take no more.
  return is_large(shape) ? gemm_workspace_floats(shape, true) : 0;
}

}  // namespace hone::kernels
#endif  // HWY_ONCE
