// The weights of a panel are read once for every tile of rows, after the first time from a cache. Activations are small
// enough to stay in the private caches of a core. A tile sums over all of K in registers (int8_tile-inl.h), so there
// are no intermediate sums. The epilogue runs over the finished tile in the L1 cache and takes about 1/K of the time.
#include "hone/kernels/int8_product.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <utility>

#include "hone/base/error.h"
#include "hone/kernels/grain.h"
#include "hone/kernels/int8_residues.h"
#include "hone/kernels/int8_results.h"
#include "hone/kernels/packed_matrix.h"
#include "hone/kernels/scratch.h"

#ifndef HONE_INT8_PRODUCT_ONCE
#define HONE_INT8_PRODUCT_ONCE
namespace hone::kernels {
namespace {

// A panel of 32 rows of weights as a tile reads it.
struct Panel {
  const std::uint8_t* codes;
  const std::uint8_t* scales;  // of blocks; null: one scale per row
  const std::uint8_t* values;  // 16 of them
  int scale_bytes;             // of a block
  float lowest;                // value of the code 0, to which zero points are relative
  std::int64_t quads;          // that contain columns, rounded up to whole bytes
  std::int64_t block_quads;
  // Data to prefetch while a tile is summed: its share of the codes of another panel; null: none.
  const std::uint8_t* ahead = nullptr;
  std::int64_t tiles = 1;  // that share the prefetch
};

// Rows of activations as a tile reads them.
template <class Left>
struct TileRows {
  const Left* codes;
  std::int64_t stride;         // in quads
  const std::int32_t* starts;  // those of `Int8Rows`, from the first row on
  std::int64_t group;          // rows whose starts are stored together
};

PackedMatrix matrix_of(const Int8Weight& weight) {
  return {weight.rows, weight.columns, weight.bits};
}

std::int64_t panels_of(const Int8Weight& weight) { return ceil_div(weight.rows, kPackedRows); }

// Number of rows up to which extracting codes of 1 and 2 bits again for every tile is faster than unpacking them.
constexpr std::int64_t kFewRows = 4;

// Returns whether codes are integers of 4 bits in offset binary.
bool are_half_bytes(const Int8Weight& weight) {
  return weight.bits == 4 && weight.values == Int8Weight().values;
}

// Returns the bits per code that tiles read: those of the weight if every block fills whole bytes, else 8, for codes
// that are unpacked to bytes.
int tile_bits(const Int8Weight& weight, std::int64_t block, std::int64_t rows) {
  const int bits = weight.bits;
  if (bits != 4 && bits != 2 && bits != 1) return 8;
  if (bits != 4 && rows > kFewRows) return 8;
  return weight.block_scales != nullptr && block % (32 / bits) != 0 ? 8 : bits;
}

std::int64_t panel_bytes(const Int8Weight& weight) {
  return kPackedRows * packed_columns(matrix_of(weight)) * weight.bits / 8;
}

Panel panel_of(const Int8Weight& weight, const Int8Shape& x, std::int64_t panel) {
  const std::int64_t block = x.block;
  const std::int64_t quads_of_byte = tile_bits(weight, block, x.rows) == 8 ? 1 : 8 / weight.bits;
  const std::int64_t quads = ceil_div(weight.columns, 4 * quads_of_byte) * quads_of_byte;
  const std::int64_t blocks = block == 0 ? 0 : ceil_div(weight.columns, block);
  return {weight.codes + panel * panel_bytes(weight),
          weight.block_scales == nullptr
              ? nullptr
              : weight.block_scales + panel * kPackedRows * blocks * weight.scale_bytes,
          weight.values.data(),
          weight.scale_bytes,
          weight.bits <= 4 ? weight.values[0] - 128.0f : -std::ldexp(1.0f, weight.bits - 1),
          quads,
          block / 4};
}

// How a product is split into chunks: rows of activations by panels of weights.
struct Int8Plan {
  std::int64_t tile_rows, panels_together;
  std::int64_t row_tiles, column_tiles;
};

// Chooses enough panels per chunk to be worth claiming, few enough to stay in a private cache and to balance the
// threads.
Int8Plan plan_for(const Int8Rows& x, const Int8Weight& weight, std::int64_t most_rows) {
  constexpr std::int64_t kChunkBytes = 128 << 10, kMinChunks = 8;
  Int8Plan plan{};
  plan.tile_rows = most_rows;
  plan.panels_together = std::clamp<std::int64_t>(
      kChunkBytes / std::max<std::int64_t>(1, kPackedRows * weight.columns * weight.bits / 8), 1,
      ceil_div(panels_of(weight), kMinChunks));
  plan.row_tiles = ceil_div(x.shape.rows, plan.tile_rows);
  plan.column_tiles = ceil_div(panels_of(weight), plan.panels_together);
  return plan;
}

struct Int8Work {
  const Int8Rows& x;
  const Int8Weight& weight;
  Int8Target to;
  Int8Plan plan;
  std::int64_t threads;
};

std::atomic<bool> quads_allowed{true};

}  // namespace
}  // namespace hone::kernels
#endif  // HONE_INT8_PRODUCT_ONCE

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hone/kernels/int8_product.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "hone/kernels/epilogue-inl.h"
#include "hone/kernels/half-inl.h"
#include "hone/kernels/int8_dot-inl.h"
#include "hone/kernels/int8_results-inl.h"
#include "hone/kernels/unpack-inl.h"
#include "hone/kernels/vector_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hone::kernels {
namespace HWY_NAMESPACE {
namespace {

namespace widening {
using Dot = WideningDot;
#include "hone/kernels/int8_tile-inl.h"
}  // namespace widening

#ifdef HONE_SHORT_TARGET
namespace half {
using Dot = ShortDot<8, true>;
#include "hone/kernels/int8_tile-inl.h"
}  // namespace half
namespace short2 {
using Dot = ShortDot<2, false>;
#include "hone/kernels/int8_tile-inl.h"
}  // namespace short2
namespace short1 {
using Dot = ShortDot<1, false>;
#include "hone/kernels/int8_tile-inl.h"
}  // namespace short1
#endif

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace hone::kernels
HWY_AFTER_NAMESPACE();

#ifdef HONE_QUAD_TARGET
HWY_PUSH_ATTRIBUTES(HONE_QUAD_TARGET)
namespace hone::kernels {
namespace HWY_NAMESPACE {
namespace {

namespace quad {
using Dot = QuadDot;
#include "hone/kernels/int8_tile-inl.h"
}  // namespace quad

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace hone::kernels
HWY_POP_ATTRIBUTES
#endif

HWY_BEFORE_NAMESPACE();
namespace hone::kernels {
namespace HWY_NAMESPACE {
namespace {

using V = FloatVector;

// A finished tile: `sums` (rows, 32) are for rows from `row` on and columns from `column` on.
struct FinishedTile {
  void* sums;
  std::int64_t row, rows;
  std::int64_t column, columns;
};

// Returns where the floats of a tile are stored: in the results, or over the sums if they are then rounded.
Piece piece_of(const Int8Target& to, const FinishedTile& tile) {
  Piece piece{nullptr, kPackedRows, tile.row, tile.column, tile.rows, tile.columns};
  if (to.rows != nullptr) {
    piece.c = static_cast<float*>(tile.sums);
  } else {
    piece.c = to.y + tile.row * to.y_stride + tile.column;
    piece.c_stride = to.y_stride;
  }
  return piece;
}

// Returns whether the residual can be added to the sums in registers, since there is no activation.
bool adds_at_once(const Epilogue& epilogue) {
  return epilogue.activation == Activation::none && epilogue.residual != nullptr;
}

// `sum_of(i, j, part)` returns the sums of row i at columns from j on, times the scales of the columns.
template <class SumOf>
HWY_INLINE void store_piece(const Int8Rows& x, const Epilogue& epilogue, const Piece& piece,
                            SumOf&& sum_of) {
  const Floats d;
  const float* const scales = x.scales + piece.row;
  const float* const bias = epilogue.bias == nullptr ? nullptr : epilogue.bias + piece.column;
  const bool accumulate = epilogue.accumulate;
  const float* const residual =
      adds_at_once(epilogue)
          ? epilogue.residual + piece.row * epilogue.residual_stride + piece.column
          : nullptr;
  for_vectors(d, piece.columns, [&](std::int64_t j, auto part) HWY_ATTR {
    const V term = bias == nullptr ? hn::Zero(d) : load(d, bias + j, part);
    for (std::int64_t i = 0; i < piece.rows; ++i) {
      float* const at = piece.c + i * piece.c_stride + j;
      V value = hn::MulAdd(sum_of(i, j, part), hn::Set(d, scales[i]), term);
      if (accumulate) value = hn::Add(load(d, at, part), value);
      if (residual != nullptr)
        value = hn::Add(value, load(d, residual + i * epilogue.residual_stride + j, part));
      store(value, d, at, part);
    }
  });
}

HWY_NOINLINE void finish(const Int8Rows& x, const Int8Weight& weight, const Epilogue& epilogue,
                         const void* tile_sums, const Piece& piece) {
  const Floats d;
  const hn::RebindToSigned<Floats> words;
  if (weight.scales == nullptr) {
    const auto* const sums = static_cast<const float*>(tile_sums);
    const V unit = hn::Set(d, weight.unit);
    store_piece(x, epilogue, piece, [=](std::int64_t i, std::int64_t j, auto) HWY_ATTR {
      return hn::Mul(hn::LoadU(d, sums + i * kPackedRows + j), unit);
    });
  } else {
    const auto* const sums = static_cast<const std::int32_t*>(tile_sums);
    const float* const scales = weight.scales + piece.column;
    store_piece(x, epilogue, piece, [=](std::int64_t i, std::int64_t j, auto part) HWY_ATTR {
      const V sum = hn::ConvertTo(d, hn::LoadU(words, sums + i * kPackedRows + j));
      return hn::Mul(sum, load(d, scales + j, part));
    });
  }
  if (epilogue.has_more_steps() && !adds_at_once(epilogue)) finish_piece(piece, epilogue);
}

// Returns the widened codes of rows from `first` on, in a buffer of the thread.
const WideningDot::Left* widened_codes(const Int8Rows& x, std::int64_t first, std::int64_t rows) {
  static thread_local Scratch scratch;
  const std::int64_t stride = x.shape.stride();
  auto* const widened = reinterpret_cast<WideningDot::Left*>(
      scratch.floats(static_cast<std::size_t>(rows * stride / 2)));
  WideningDot::prepare(rows * stride / 4, x.codes + first * stride, widened);
  return widened;
}

// Returns a panel that tiles can read: in place, or unpacked in a buffer of the thread.
Panel readable_panel(const Int8Weight& weight, Panel panel, int bits) {
  if (weight.bits == bits) return panel;
  static thread_local Scratch scratch;
  auto* const bytes = reinterpret_cast<std::uint8_t*>(
      scratch.floats(static_cast<std::size_t>(panel.quads * kPackedRows)));
  const auto zero = static_cast<std::uint8_t>(128 - (1 << (weight.bits - 1)));
  const std::int64_t all = packed_columns(matrix_of(weight)) / 4;
  unpack_panel(weight.bits, all, panel.codes, panel.quads, bytes, [&](auto d, auto codes) HWY_ATTR {
    return weight.bits > 4 ? hn::Add(codes, hn::Set(d, zero))
                           : hn::TableLookupBytes(hn::LoadDup128(d, panel.values), codes);
  });
  panel.codes = bytes;
  return panel;
}

// The results and the residual of a tile are needed only after its sums, which leaves time to fetch them.
void prefetch(const Int8Target& to, const FinishedTile& tile) {
  constexpr std::int64_t kLineFloats = 16;
  const Epilogue& epilogue = to.epilogue;
  for (std::int64_t i = tile.row; i < tile.row + tile.rows; ++i) {
    if (to.rows != nullptr) {
      __builtin_prefetch(to.rows->codes + i * to.rows->shape.stride() + tile.column, 1);
    } else {
      const float* const y = to.y + i * to.y_stride + tile.column;
      for (std::int64_t j = 0; j < tile.columns; j += kLineFloats) __builtin_prefetch(y + j, 1);
    }
    if (epilogue.residual == nullptr) continue;
    const float* const residual = epilogue.residual + i * epilogue.residual_stride + tile.column;
    for (std::int64_t j = 0; j < tile.columns; j += kLineFloats) __builtin_prefetch(residual + j);
  }
}

// Returns the panel that the thread needs next: the following one, or, after the last one of a chunk and if all chunks
// have the same rows, the first of the chunk that it most often claims next. At least the number of panels if there is
// none.
std::int64_t next_panel(const Int8Weight& weight, const Int8Plan& plan, std::int64_t panel,
                        std::int64_t end, std::int64_t threads) {
  const std::int64_t next = panel + 1;
  if (next < end) return next;
  return plan.row_tiles > 1 ? panels_of(weight) : next + (threads - 1) * plan.panels_together;
}

struct ChunkRows {
  std::int64_t first, count;
};

ChunkRows rows_of(const Int8Work& work, std::int64_t chunk) {
  const std::int64_t first = chunk % work.plan.row_tiles * work.plan.tile_rows;
  return {first, std::min(work.plan.tile_rows, work.x.shape.rows - first)};
}

// Computes a chunk with the tiles of one policy: kTileRows rows per tile, `codes` of the chunk, and `tile_for` to
// choose the tile function. `complete(panel, tile)` adds products that the tile omits.
template <int kTileRows, class Left, class TileFor, class Complete>
void compute_chunk(const Int8Work& work, std::int64_t chunk, const Left* codes, TileFor&& tile_for,
                   Complete&& complete) {
  HWY_ALIGN float sums[kTileRows * kPackedRows];
  const auto& [x, weight, to, plan, threads] = work;
  const auto [first, rows] = rows_of(work, chunk);
  const std::int64_t stride = x.shape.stride() / 4;
  const std::int64_t begin = chunk / plan.row_tiles * plan.panels_together;
  const int bits = tile_bits(weight, x.shape.block, x.shape.rows);
  ChunkRounding rounding(to, first, rows);
  const std::int64_t end = std::min(begin + plan.panels_together, panels_of(weight));
  for (std::int64_t p = begin; p < end; ++p) {
    Panel panel = readable_panel(weight, panel_of(weight, x.shape, p), bits);
    const std::int64_t behind = next_panel(weight, plan, p, end, threads);
    const bool fetches = weight.bits == bits && behind < panels_of(weight);
    const std::uint8_t* const ahead = fetches ? panel_of(weight, x.shape, behind).codes : nullptr;
    panel.tiles = ceil_div(rows, kTileRows);
    const std::int64_t share = panel_bytes(weight) / panel.tiles;
    const std::int64_t columns = std::min(kPackedRows, weight.rows - p * kPackedRows);
    for (std::int64_t i = 0; i < rows; i += kTileRows) {
      const std::int64_t together = std::min<std::int64_t>(kTileRows, rows - i);
      const FinishedTile tile{sums, first + i, together, p * kPackedRows, columns};
      prefetch(to, tile);
      if (ahead != nullptr) panel.ahead = ahead + i / kTileRows * share;
      tile_for(bits, together)(
          {codes + i * stride, stride, &x.start(first + i, 0), x.group(first + i)}, panel, sums);
      complete(panel, tile);
      const Piece piece = piece_of(to, tile);
      finish(x, weight, to.epilogue, sums, piece);
      if (to.rows != nullptr) rounding.round(piece);
    }
  }
  rounding.add_up();
}

constexpr auto kComplete = [](const Panel&, const FinishedTile&) {};

template <int kTileRows, class TileFor>
void compute_chunk(const Int8Work& work, std::int64_t chunk, TileFor&& tile_for) {
  const auto [first, rows] = rows_of(work, chunk);
  const auto* const codes =
      reinterpret_cast<const FourCodes*>(work.x.codes + first * work.x.shape.stride());
  compute_chunk<kTileRows>(work, chunk, codes, tile_for, kComplete);
}

void compute_widened_chunk(const Int8Work& work, std::int64_t chunk) {
  const auto [first, rows] = rows_of(work, chunk);
  compute_chunk<widening::kTileRows>(work, chunk, widened_codes(work.x, first, rows),
                                     widening::tile_for, kComplete);
}

#ifdef HONE_SHORT_TARGET
void compute_limited_chunk(const Int8Work& work, std::int64_t chunk, const LimitedRows& limited) {
  const std::int64_t first = rows_of(work, chunk).first;
  const auto* const codes = reinterpret_cast<const FourCodes*>(limited.codes);
  const auto complete = [&](const Panel& panel, const FinishedTile& tile) HWY_ATTR {
    auto* const sums = static_cast<std::int32_t*>(tile.sums);
    for (std::int64_t i = 0; i < tile.rows; ++i) {
      const std::int64_t row = tile.row - first + i;
      const std::int32_t begin = row == 0 ? 0 : limited.ends[row - 1];
      short1::add_residues(panel, limited.residues + begin, limited.residues + limited.ends[row],
                           sums + i * kPackedRows);
    }
  };
  if (limited.together == 2)
    return compute_chunk<short2::kTileRows>(work, chunk, codes, short2::tile_for, complete);
  compute_chunk<short1::kTileRows>(work, chunk, codes, short1::tile_for, complete);
}
#endif

void run_chunks(ThreadPool* pool, std::int64_t chunks, FunctionRef<void(std::int64_t)> compute) {
  if (pool != nullptr) return pool->run(chunks, compute);
  for (std::int64_t chunk = 0; chunk < chunks; ++chunk) compute(chunk);
}

#ifdef HONE_SHORT_TARGET
// Limits and multiplies some rows at a time, so that memory for them stays small.
void multiply_limited(ThreadPool* pool, const Int8Work& work) {
  constexpr std::int64_t kMaxTiles = 16;
  constexpr std::size_t kMaxBytes = std::size_t{4} << 20;
  static thread_local Scratch scratch;
  const Int8Plan& plan = work.plan;
  const std::size_t tile_bytes = limited_rows_bytes(work.x.shape, plan.tile_rows);
  const std::int64_t together =
      std::clamp<std::int64_t>(static_cast<std::int64_t>(kMaxBytes / tile_bytes),
                               std::min(work.threads, kMaxTiles), kMaxTiles);
  auto* const memory = reinterpret_cast<std::uint8_t*>(scratch.floats(
      static_cast<std::size_t>(std::min(together, plan.row_tiles)) * tile_bytes / sizeof(float)));
  for (std::int64_t begin = 0; begin < plan.row_tiles; begin += together) {
    const std::int64_t tiles = std::min(together, plan.row_tiles - begin);
    std::array<LimitedRows, kMaxTiles> limited;
    run_chunks(pool, tiles, [&](std::int64_t tile) {
      limited[static_cast<std::size_t>(tile)] =
          limit_rows(work.x, (begin + tile) * plan.tile_rows, plan.tile_rows,
                     memory + static_cast<std::size_t>(tile) * tile_bytes);
    });
    run_chunks(pool, tiles * plan.column_tiles, [&](std::int64_t index) {
      const std::int64_t tile = index % tiles;
      const std::int64_t chunk = index / tiles * plan.row_tiles + begin + tile;
      const LimitedRows& rows = limited[static_cast<std::size_t>(tile)];
      if (rows.together == 0) return compute_widened_chunk(work, chunk);
      compute_limited_chunk(work, chunk, rows);
    });
  }
}
#endif

// Adds the residual to whole rows after the product.
void add_residual(ThreadPool* pool, std::int64_t rows, std::int64_t columns, const Int8Target& to) {
  const Epilogue added{.residual = to.epilogue.residual,
                       .residual_stride = to.epilogue.residual_stride};
  const std::int64_t together = rows_per_chunk(columns);
  run_chunks(pool, ceil_div(rows, together), [&](std::int64_t chunk) {
    const std::int64_t first = chunk * together;
    finish_piece({to.y + first * to.y_stride, to.y_stride, first, 0,
                  std::min(together, rows - first), columns},
                 added);
  });
}

// Returns whether the residual does not fit in the private caches. A tile reads so few elements of each row that it
// would wait for every row, which costs more than a separate pass.
bool is_far(const Int8Rows& x, const Int8Weight& weight, const Epilogue& epilogue) {
  constexpr std::int64_t kNearFloats = 256 << 10;
  return epilogue.residual != nullptr && x.shape.rows * weight.rows > kNearFloats;
}

void multiply(ThreadPool* pool, const Int8Rows& x, const Int8Weight& weight,
              const Int8Target& whole) {
  const bool adds_later = whole.rows == nullptr && is_far(x, weight, whole.epilogue);
  if (whole.rows != nullptr) begin_rows(whole.grid, *whole.rows);
  Int8Target to = whole;
  if (adds_later) to.epilogue.residual = nullptr;
  const std::int64_t threads = pool == nullptr ? 1 : pool->threads();
  const auto work_of = [&](std::int64_t most_rows) {
    return Int8Work{x, weight, to, plan_for(x, weight, most_rows), threads};
  };
  const auto run = [&](const Int8Work& work, auto&& compute) {
    run_chunks(pool, work.plan.row_tiles * work.plan.column_tiles, compute);
    if (adds_later) add_residual(pool, x.shape.rows, weight.rows, whole);
  };
#ifdef HONE_QUAD_TARGET
  if (quads_allowed && cpu_has_quads()) {
    const Int8Work work = work_of(kMaxChunkRows);
    return run(work, [&](std::int64_t chunk) {
      compute_chunk<quad::kTileRows>(work, chunk, quad::tile_for);
    });
  }
#endif
#ifdef HONE_SHORT_TARGET
  if (are_half_bytes(weight)) {
    const Int8Work work = work_of(kMaxChunkRows);
    return run(work, [&](std::int64_t chunk) {
      compute_chunk<half::kTileRows>(work, chunk, half::tile_for);
    });
  }
  if (weight.scales != nullptr && tile_bits(weight, x.shape.block, x.shape.rows) == 8) {
    multiply_limited(pool, work_of(kMaxChunkRows));
    if (adds_later) add_residual(pool, x.shape.rows, weight.rows, whole);
    return;
  }
#endif
  // Activations are widened for every chunk.
  const Int8Work work = work_of(48);
  run(work, [&](std::int64_t chunk) { compute_widened_chunk(work, chunk); });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace hone::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hone::kernels {
namespace {

HWY_EXPORT(multiply);
HWY_EXPORT(cpu_has_quads);

// Products of fewer multiply-adds take a few microseconds: not worth a second thread.
constexpr std::int64_t kSmallWork = std::int64_t{1} << 19;

void run_product(ThreadPool& pool, const Int8Rows& x, const Int8Weight& weight,
                 const Int8Target& to) {
  HONE_ASSERT(weight.columns > 0 && x.shape.columns == weight.columns,
              "a product over {} and {} columns", x.shape.columns, weight.columns);
  HONE_ASSERT(weight.bits >= 1 && weight.bits <= 8, "a product with weights of {} bits",
              weight.bits);
  HONE_ASSERT((weight.scales == nullptr) != (weight.block_scales == nullptr),
              "a product needs scales per row or scales per block");
  HONE_ASSERT(weight.scales == nullptr || x.shape.block == x.shape.columns,
              "activations of blocks of {} by weights with a scale per row", x.shape.block);
  HONE_ASSERT(weight.scales != nullptr || x.shape.block <= kMaxInt8Block, "blocks of {}",
              x.shape.block);
  if (x.shape.rows == 0 || weight.rows == 0) return;
  const std::int64_t work = x.shape.rows * weight.rows * weight.columns;
  HWY_DYNAMIC_DISPATCH(multiply)
  (work <= kSmallWork ? nullptr : &pool, x, weight, to);
}

}  // namespace

void int8_product(ThreadPool& pool, const Int8Rows& x, const Int8Weight& weight,
                  const Epilogue& epilogue, float* y, std::int64_t y_stride) {
  run_product(pool, x, weight, {.epilogue = epilogue, .y = y, .y_stride = y_stride});
}

void int8_product(ThreadPool& pool, const Int8Rows& x, const Int8Weight& weight,
                  const Epilogue& epilogue, const Int8Grid& grid, const Int8Rows& y) {
  HONE_ASSERT(y.shape.rows == x.shape.rows && y.shape.columns == weight.rows,
              "results of {}x{} for rows of {}x{}", x.shape.rows, weight.rows, y.shape.rows,
              y.shape.columns);
  HONE_ASSERT(y.shape.block == y.shape.columns && grid.scale > 0 && !epilogue.accumulate,
              "integer results need one given scale");
  run_product(pool, x, weight, {.epilogue = epilogue, .grid = grid, .rows = &y});
}

void allow_quad_products(bool allowed) { quads_allowed = allowed; }
bool uses_quad_products() { return quads_allowed && HWY_DYNAMIC_DISPATCH(cpu_has_quads)(); }

}  // namespace hone::kernels
#endif  // HWY_ONCE
