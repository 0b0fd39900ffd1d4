// Rows of activations are split into tiles. Once per call, the codes of a tile are rearranged to [quad][row][4], as
// bytes 128 above their values. A stored block of weights is then multiplied by the vectors of its quad, and sums begin
// with -128 times the sum of the codes of an output. A panel of quads of a tile stays in the L1 cache while weights are
// streamed. The finished sums of a group of outputs are transposed when results are stored.
#include "hone/kernels/sparse_int8_product.h"

#include <algorithm>

#include "hone/base/error.h"
#include "hone/kernels/grain.h"
#include "hone/kernels/int8_product.h"
#include "hone/kernels/int8_residues.h"
#include "hone/kernels/int8_results.h"
#include "hone/kernels/scratch.h"

#ifndef HONE_SPARSE_PRODUCT_ONCE
#define HONE_SPARSE_PRODUCT_ONCE
namespace hone::kernels {
namespace {

// Largest number of vectors of rows of a tile.
constexpr std::int64_t kTileVectors = 4;

// The lists of a cell as a tile reads them.
struct Cell {
  std::int64_t count;  // of lists
  const std::uint8_t* outputs;
  const std::uint16_t* counts;
  const std::uint8_t* quads;
  const FourCodes* codes;
  const std::int32_t* code_sums;  // of outputs, for the initial sums; null: sums are added to
};

struct SparseWork {
  const Int8Rows& x;
  const SparseInt8Matrix& matrix;
  const SparseLists& lists;
  const float* scales;
  Int8Target to;
};

struct SparseTile {
  std::uint8_t* bytes;  // (quads, padded rows, 4)
  std::int64_t first, rows;
  std::int64_t padded;
};

std::int32_t start_of(std::int32_t code_sum) {
  return static_cast<std::int32_t>(0u - 128u * static_cast<std::uint32_t>(code_sum));
}

// Returns the quads of a row with padding, which rows of activations have too.
std::int64_t padded_quads(const SparseInt8Matrix& matrix) { return round_up(matrix.quads(), 4); }

// Returns the number of groups of a chunk: enough entries to be worth loading the tile from a farther cache, few enough
// to make chunks for many threads.
std::int64_t groups_together(const SparseWork& work, std::int64_t row_tiles) {
  constexpr std::int64_t kChunks = 64, kChunkEntries = 2048;
  const SparseInt8Matrix& matrix = work.matrix;
  const std::int64_t group_entries = ceil_div(work.lists.ends[matrix.cells() - 1], matrix.groups());
  const std::int64_t least = ceil_div(kChunkEntries, std::max<std::int64_t>(1, group_entries));
  return std::clamp(ceil_div(matrix.groups() * row_tiles, kChunks),
                    std::min(least, matrix.groups()), matrix.groups());
}

}  // namespace
}  // namespace hone::kernels
#endif  // HONE_SPARSE_PRODUCT_ONCE

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hone/kernels/sparse_int8_product.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "hone/kernels/epilogue-inl.h"
#include "hone/kernels/int8_dot-inl.h"
#include "hone/kernels/int8_results-inl.h"
#include "hone/kernels/transpose-inl.h"
#include "hone/kernels/vector_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hone::kernels {
namespace HWY_NAMESPACE {
namespace {

using AddCell = void (*)(Cell, const std::uint8_t*, std::int32_t*);

HWY_INLINE WideningDot::Left widened(const FourCodes& codes) {
  return {{{codes.codes[0], codes.codes[2]}, {codes.codes[1], codes.codes[3]}}};
}

// Policies for codes of 8 bits, and of 4.
#ifdef HONE_SHORT_TARGET
namespace whole {
using Dot = ShortDot<1, false>;
#include "hone/kernels/sparse_int8_tile-inl.h"
}  // namespace whole
namespace half {
using Dot = ShortDot<8, true>;
#include "hone/kernels/sparse_int8_tile-inl.h"
}  // namespace half
#else
namespace whole {
using Dot = WideningDot;
#include "hone/kernels/sparse_int8_tile-inl.h"
}  // namespace whole
namespace half = whole;
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
#include "hone/kernels/sparse_int8_tile-inl.h"
}  // namespace quad

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace hone::kernels
HWY_POP_ATTRIBUTES
#endif  // HONE_QUAD_TARGET

HWY_BEFORE_NAMESPACE();
namespace hone::kernels {
namespace HWY_NAMESPACE {
namespace {

// Arranges some quads at a time, which stay in the L1 cache until all rows are done.
void arrange_tile(const Int8Rows& x, std::int64_t quads, const SparseTile& tile) {
  constexpr std::int64_t kQuadsTogether = 64;
  const hn::Repartition<std::uint8_t, Floats> d;
  const std::int64_t stride = x.shape.stride() / 4;
  const auto* const from = reinterpret_cast<const float*>(x.codes) + tile.first * stride;
  for (std::int64_t quad = 0; quad < quads; quad += kQuadsTogether) {
    const std::int64_t together = std::min(kQuadsTogether, quads - quad);
    const std::int64_t words = together * tile.padded;
    std::uint8_t* const bytes = tile.bytes + quad * 4 * tile.padded;
    auto* const to = reinterpret_cast<float*>(bytes);
    if (tile.rows < tile.padded) std::fill_n(to, words, 0.0f);
    transpose_block(from + quad, stride, tile.rows, together, to, tile.padded);
    for (std::int64_t i = 0; i < 4 * words; i += 4 * kLanes)
      hn::StoreU(hn::Xor(hn::LoadU(d, bytes + i), hn::Set(d, std::uint8_t{0x80})), d, bytes + i);
  }
}

// Returns the codes of entries of 4 bits, unpacked in a buffer of the thread.
const FourCodes* unpacked_codes(const std::uint8_t* codes, std::int64_t entries) {
  static thread_local Scratch scratch;
  auto* const to =
      reinterpret_cast<std::uint32_t*>(scratch.floats(static_cast<std::size_t>(entries + kLanes)));
  const hn::RebindToUnsigned<Floats> d;
  const hn::Rebind<std::uint16_t, Floats> halves;
  const hn::Repartition<std::uint8_t, Floats> bytes;
  for_vectors(halves, entries, [&](std::int64_t i, auto part) HWY_ATTR {
    const auto four =
        hn::PromoteTo(d, load(halves, reinterpret_cast<const std::uint16_t*>(codes) + i, part));
    // Spread half bytes to bytes.
    const auto two =
        hn::And(hn::Or(four, hn::ShiftLeft<8>(four)), hn::Set(d, std::uint32_t{0x00ff00ff}));
    const auto one =
        hn::And(hn::Or(two, hn::ShiftLeft<4>(two)), hn::Set(d, std::uint32_t{0x0f0f0f0f}));
    const auto sign = hn::Set(bytes, std::uint8_t{8});
    const auto code = hn::Sub(hn::Xor(hn::BitCast(bytes, one), sign), sign);
    hn::StoreU(hn::BitCast(d, code), d, to + i);
  });
  return reinterpret_cast<const FourCodes*>(to);
}

Cell cell_of(const SparseWork& work, std::int64_t group, std::int64_t panel) {
  const SparseInt8Matrix& matrix = work.matrix;
  const SparseLists& lists = work.lists;
  const std::int64_t cell = group * matrix.panels() + panel;
  const std::int64_t first = cell == 0 ? 0 : lists.ends[cell - 1];
  return {matrix.outputs(group),
          lists.outputs + cell * kSparseOutputs,
          lists.counts + cell * kSparseOutputs,
          lists.quads + first,
          matrix.bits == 4 ? unpacked_codes(lists.codes + 2 * first, lists.ends[cell] - first)
                           : reinterpret_cast<const FourCodes*>(lists.codes + 4 * first),
          panel == 0 ? lists.sums + group * kSparseOutputs : nullptr};
}

// Stores the results of up to four rows of a piece. `sums` (64 outputs, padded rows) begins at the first of these rows.
void store_rows(const SparseWork& work, const std::int32_t* sums, std::int64_t padded,
                const Piece& piece) {
  const Floats d;
  const Epilogue& epilogue = work.to.epilogue;
  const float* const bias = epilogue.bias == nullptr ? nullptr : epilogue.bias + piece.column;
  for_vectors(d, piece.columns, [&](std::int64_t j, auto part) HWY_ATTR {
    const FloatVector scale = load(d, work.scales + piece.column + j, part);
    const FloatVector term = bias == nullptr ? hn::Zero(d) : load(d, bias + j, part);
    FloatVector columns[4];
    load_four_columns(d, reinterpret_cast<const float*>(sums) + j * padded, padded, columns);
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      if (i >= piece.rows) break;
      float* const at = piece.c + i * piece.c_stride + j;
      const FloatVector sum = hn::ConvertTo(d, hn::BitCast(Words(), columns[i]));
      FloatVector value =
          hn::MulAdd(hn::Mul(sum, scale), hn::Set(d, work.x.scales[piece.row + i]), term);
      if (epilogue.accumulate) value = hn::Add(load(d, at, part), value);
      store(value, d, at, part);
    }
  });
  if (epilogue.has_more_steps()) finish_piece(piece, epilogue);
}

// Stores the results of a tile and groups [begin, end), a few rows of all groups at a time, which are contiguous in
// memory.
void finish_chunk(const SparseWork& work, const SparseTile& tile, std::int64_t begin,
                  std::int64_t end, const std::int32_t* sums) {
  HWY_ALIGN float floats[4 * kSparseOutputs];
  const Int8Target& to = work.to;
  ChunkRounding rounding(to, tile.first, tile.rows);
  for (std::int64_t i = 0; i < tile.rows; i += 4) {
    for (std::int64_t group = begin; group < end; ++group) {
      Piece piece{floats,
                  kSparseOutputs,
                  tile.first + i,
                  group * kSparseOutputs,
                  std::min<std::int64_t>(4, tile.rows - i),
                  work.matrix.outputs(group)};
      if (to.rows == nullptr) {
        piece.c = to.y + piece.row * to.y_stride + piece.column;
        piece.c_stride = to.y_stride;
      }
      store_rows(work, sums + (group - begin) * kSparseOutputs * tile.padded + i, tile.padded,
                 piece);
      if (to.rows != nullptr) rounding.round(piece);
    }
  }
  rounding.add_up();
}

AddCell cell_function(const SparseInt8Matrix& matrix, std::int64_t vectors) {
#ifdef HONE_QUAD_TARGET
  if (uses_quad_products()) return quad::add_cell_for(vectors);
#endif
  return matrix.bits == 4 ? half::add_cell_for(vectors) : whole::add_cell_for(vectors);
}

void compute_chunk(const SparseWork& work, const SparseTile& tile, std::int64_t begin,
                   std::int64_t end) {
  static thread_local Scratch scratch;
  const SparseInt8Matrix& matrix = work.matrix;
  const std::int64_t group_sums = kSparseOutputs * tile.padded;
  auto* const sums = reinterpret_cast<std::int32_t*>(
      scratch.floats(static_cast<std::size_t>((end - begin) * group_sums)));
  const AddCell add_cell = cell_function(matrix, tile.padded / kLanes);
  for (std::int64_t p = 0; p < matrix.panels(); ++p) {
    const std::uint8_t* const x = tile.bytes + p * matrix.panel_quads() * 4 * tile.padded;
    for (std::int64_t group = begin; group < end; ++group)
      add_cell(cell_of(work, group, p), x, sums + (group - begin) * group_sums);
  }
  finish_chunk(work, tile, begin, end, sums);
}

void run_chunks(ThreadPool* pool, std::int64_t chunks, FunctionRef<void(std::int64_t)> compute) {
  if (pool != nullptr) return pool->run(chunks, compute);
  for (std::int64_t chunk = 0; chunk < chunks; ++chunk) compute(chunk);
}

// Arranges and multiplies some tiles at a time, so that memory for them stays small.
void multiply(ThreadPool* pool, const SparseWork& work) {
  constexpr std::int64_t kMaxBytes = std::int64_t{4} << 20, kMinTiles = 8;
  static thread_local Scratch scratch;
  if (work.to.rows != nullptr) begin_rows(work.to.grid, *work.to.rows);
  const std::int64_t rows = work.x.shape.rows, quads = padded_quads(work.matrix);
  const std::int64_t tile_rows = std::min(kTileVectors * kLanes, round_up(rows, kLanes));
  const std::int64_t tile_bytes = 4 * quads * tile_rows, row_tiles = ceil_div(rows, tile_rows);
  const std::int64_t together = std::min(row_tiles, std::max(kMinTiles, kMaxBytes / tile_bytes));
  auto* const memory = reinterpret_cast<std::uint8_t*>(
      scratch.floats(static_cast<std::size_t>(together * tile_bytes) / sizeof(float)));
  const std::int64_t groups = work.matrix.groups();
  const std::int64_t chunk_groups = groups_together(work, row_tiles);
  const std::int64_t column_chunks = ceil_div(groups, chunk_groups);
  for (std::int64_t begin = 0; begin < row_tiles; begin += together) {
    const auto tile_of = [&](std::int64_t tile) {
      const std::int64_t first = (begin + tile) * tile_rows;
      const std::int64_t count = std::min(tile_rows, rows - first);
      return SparseTile{memory + tile * tile_bytes, first, count, round_up(count, kLanes)};
    };
    const std::int64_t tiles = std::min(together, row_tiles - begin);
    run_chunks(pool, tiles, [&](std::int64_t tile) { arrange_tile(work.x, quads, tile_of(tile)); });
    run_chunks(pool, tiles * column_chunks, [&](std::int64_t chunk) {
      const std::int64_t first = chunk % column_chunks * chunk_groups;
      compute_chunk(work, tile_of(chunk / column_chunks), first,
                    std::min(first + chunk_groups, groups));
    });
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace hone::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hone::kernels {
namespace {

HWY_EXPORT(multiply);

// Products of fewer multiply-adds take a few microseconds: not worth a second thread. Few rows cost as much as full
// lanes.
constexpr std::int64_t kSmallWork = std::int64_t{1} << 19, kFullRows = 16;

void run_product(ThreadPool& pool, const Int8Rows& x, const SparseInt8Weight& weight,
                 const Int8Target& to) {
  const SparseInt8Matrix& matrix = weight.matrix;
  HONE_ASSERT(matrix.columns > 0 && x.shape.columns == matrix.columns,
              "a product over {} and {} columns", x.shape.columns, matrix.columns);
  HONE_ASSERT(x.shape.block == x.shape.columns,
              "activations of blocks of {} by weights with a scale per row", x.shape.block);
  if (x.shape.rows == 0 || matrix.rows == 0) return;
  const SparseLists lists = sparse_lists(matrix, weight.bytes);
  const std::int64_t work =
      std::max(x.shape.rows, kFullRows) * 4 * std::int64_t{lists.ends[matrix.cells() - 1]};
  HWY_DYNAMIC_DISPATCH(multiply)
  (work <= kSmallWork ? nullptr : &pool, {x, matrix, lists, weight.scales, to});
}

}  // namespace

void sparse_int8_product(ThreadPool& pool, const Int8Rows& x, const SparseInt8Weight& weight,
                         const Epilogue& epilogue, float* y, std::int64_t y_stride) {
  run_product(pool, x, weight, {.epilogue = epilogue, .y = y, .y_stride = y_stride});
}

void sparse_int8_product(ThreadPool& pool, const Int8Rows& x, const SparseInt8Weight& weight,
                         const Epilogue& epilogue, const Int8Grid& grid, const Int8Rows& y) {
  HONE_ASSERT(y.shape.rows == x.shape.rows && y.shape.columns == weight.matrix.rows,
              "results of {}x{} for rows of {}x{}", x.shape.rows, weight.matrix.rows, y.shape.rows,
              y.shape.columns);
  HONE_ASSERT(y.shape.block == y.shape.columns && grid.scale > 0 && !epilogue.accumulate,
              "integer results need one given scale");
  run_product(pool, x, weight, {.epilogue = epilogue, .grid = grid, .rows = &y});
}

std::optional<std::int64_t> fewest_sparse_int8_rows(const KeptBlocks& blocks) {
  for (const SparseInt8Limit& limit : kSparseInt8Limits)
    if (blocks.within(limit.blocks)) return limit.rows;
  return std::nullopt;
}

bool sparse_int8_is_faster(std::int64_t rows, const KeptBlocks& blocks) {
  const std::optional<std::int64_t> fewest = fewest_sparse_int8_rows(blocks);
  return fewest && rows >= *fewest;
}

}  // namespace hone::kernels
#endif  // HWY_ONCE
