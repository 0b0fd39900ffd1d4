// A blocked product like those of GotoBLAS and BLIS (Goto and van de Geijn, "Anatomy of high-performance matrix
// multiplication", 2008). K is split into blocks of at most kGemmDepth. For every block, B is packed into panels of up
// to three vectors of columns. Usually all threads pack B once, before chunks compute tiles of C. If A has so few rows
// that one tile holds them, only one chunk needs each panel and packs it into its own cache just before use. The
// weights of a layer are then read once and not written to memory. Contiguous rows of A are read in place; otherwise
// every chunk packs its own rows into panels of kPanelRows rows. The micro-kernel (gemm_tile-inl.h) keeps one panel by
// one panel of C in registers. B panels stream from L2, at most 192 bytes per 24 multiply-adds; rows of A stay in L1.
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

// Returns the first of the indices [0, total) in part `part` of `parts` nearly equal parts.
constexpr std::int64_t part_begin(std::int64_t total, std::int64_t parts, std::int64_t part) {
  return total * part / parts;
}

// How a product is split; depends on its sizes alone.
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
  // Returns whether only one chunk needs each panel of B.
  bool uses_b_once() const { return row_tiles() == 1; }
  std::int64_t padded_columns() const { return ceil_div(shape.n, kLanes) * kLanes; }
};

// Enough rows to reuse a panel of B well.
constexpr std::int64_t kMaxTileRows = 128;

// Shrinks tiles while there are few of them and each is still worth a chunk.
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

// If rows of A are not contiguous, each tile packs the rows that it needs. With few columns that takes longer than it
// saves.
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

// Adds the sums of a piece of C to its initial value: C itself, the bias of its columns, both or zero.
struct AddToPiece {
  float* c;
  std::int64_t c_stride;
  const float* bias;
  bool add_c;
  const float* residual = nullptr;  // prefetched here, added by finish_piece; null: none
  std::int64_t residual_stride = 0;

  // C and its residual are needed only after the loop over K, which leaves time to fetch them.
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

// B as given, and B packed as a whole; `packed` is null if every chunk packs the panels it needs.
struct Right {
  ConstMatrix matrix;
  const float* packed;
  std::int64_t
      threads;  // that claim tiles: a thread's next tile is most often this many further on
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

// Returns the offset of that panel in B packed as a whole.
std::int64_t panel_offset(const Plan& plan, std::int64_t block, std::int64_t panel) {
  const std::int64_t depth_begin = plan.depth_begin(block);
  const std::int64_t depth = plan.depth_begin(block + 1) - depth_begin;
  return depth_begin * plan.padded_columns() + plan.column_begin(panel) * depth;
}

// Returns the panel, and packs it first if B is not packed as a whole.
const float* packed_panel(const Plan& plan, const Right& right, std::int64_t block,
                          std::int64_t panel) {
  if (right.packed != nullptr) return right.packed + panel_offset(plan, block, panel);
  static thread_local Scratch scratch;
  float* const packed =
      scratch.floats(static_cast<std::size_t>(kPanelVectors * kLanes * kGemmDepth));
  pack_b(plan, right.matrix, block, panel, packed);
  return packed;
}

// Prefetch distance within a panel: 8 KiB, which takes some microseconds to load if two cores share the memory.
constexpr std::int64_t kFetchedAhead = 2048;
// If several pieces of rows share a panel, the first of them prefetch the next panel. Spreading this over several
// pieces keeps them from only waiting for memory.
constexpr std::int64_t kFetchingPieces = 3;

// Returns the panel that the column tile needs after this one, or the first panel of the next tile, most often of the
// same columns; null: there is none.
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

struct Destination {
  float* c;
  std::int64_t c_stride;
  Epilogue epilogue;
};

// Computes a piece whose columns do not fill the panel of B in a temporary buffer, then adds it to C.
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
  const bool has_more_steps = depth_block + 1 == plan.depth_blocks && to.epilogue.has_more_steps();
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
        has_more_steps && to.epilogue.residual != nullptr
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
      if (has_more_steps)
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

// Runs body(begin, end) over chunks on `pool`; null: on the calling thread.
template <class Body>
void for_chunks(ThreadPool* pool, std::int64_t count, std::int64_t grain, const Body& body) {
  if (pool != nullptr) return parallel_ranges(*pool, count, grain, body);
  if (count > 0) body(0, count);
}

std::int64_t threads_of(const ThreadPool* pool) { return pool != nullptr ? pool->threads() : 1; }

void pack_whole_b(ThreadPool* pool, const Plan& plan, const ConstMatrix& b, float* packed) {
  // Small enough to share few panels evenly, large enough that a chunk takes longer than claiming it.
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

// Packs all of B into the workspace, or into a buffer of the thread that is valid until its next product.
const float* packed_b(ThreadPool* pool, const Plan& plan, const ConstMatrix& b, float* workspace) {
  static thread_local Scratch scratch;
  float* const packed = workspace != nullptr ? workspace : scratch.floats(packed_floats(plan));
  pack_whole_b(pool, plan, b, packed);
  return packed;
}

void compute(ThreadPool* pool, const Plan& plan, const ConstMatrix& a, const Right& right,
             const Destination& to) {
  // Neighbouring chunks share a column tile, so they share its part of packed B in the cache.
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
// Each item of a batch above this size is split over the pool.
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

void gemm_single_threaded(const GemmShape& shape, const ConstMatrix& a, const ConstMatrix& b,
                          float* c, std::int64_t c_stride, const Epilogue& epilogue) {
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
  // A transposed A needs the most.
  return is_large(shape) ? gemm_workspace_floats(shape, true) : 0;
}

}  // namespace hone::kernels
#endif  // HWY_ONCE
