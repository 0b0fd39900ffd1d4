// Packs operands for the micro-kernel of gemm_tile-inl.h. Compiled once per Highway target.
#if defined(HONE_KERNELS_GEMM_PACK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HONE_KERNELS_GEMM_PACK_INL_H_
#undef HONE_KERNELS_GEMM_PACK_INL_H_
#else
#define HONE_KERNELS_GEMM_PACK_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>

#include "hone/kernels/gemm_tile-inl.h"
#include "hone/kernels/transpose-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hone::kernels {
namespace HWY_NAMESPACE {

// A piece of an operand as `count` lines of `depth` values: rows of A or columns of B.
struct Lines {
  const float* data;
  std::int64_t line_stride;
  std::int64_t depth_stride;
  std::int64_t count;
};

// Prefetch distance in steps of the depth. The hardware prefetcher does not follow the strides of a large matrix.
inline constexpr std::int64_t kStepsFetchedAhead = 8;

inline void prefetch_ahead(const float* values, std::int64_t count, std::int64_t depth_stride) {
  for (std::int64_t i = 0; i < count; i += kFloatsPerLine)
    __builtin_prefetch(values + kStepsFetchedAhead * depth_stride + i);
}

// Sets panel[l * width + i] to value l of line i, for neighbouring lines; `width` is a multiple of kPanelRows.
inline void copy_panel(const Lines& lines, std::int64_t width, std::int64_t depth, float* panel) {
  const Floats d;
  const hn::CappedTag<float, kPanelRows> narrow;
  for (std::int64_t l = 0; l < depth; ++l) {
    const float* const from = lines.data + l * lines.depth_stride;
    float* const to = panel + l * width;
    prefetch_ahead(from, width, lines.depth_stride);
    std::int64_t i = 0;
    for (; i + kLanes <= width; i += kLanes) hn::StoreU(hn::LoadU(d, from + i), d, to + i);
    for (; i < width; i += kPanelRows) hn::StoreU(hn::LoadU(narrow, from + i), narrow, to + i);
  }
}

// Sets panel[l * width + i] to value l of line i. Lines from count to width are zero.
inline void pack_panel(const Lines& lines, std::int64_t width, std::int64_t depth, float* panel) {
  if (lines.line_stride != 1) {
    transpose_block(lines.data, lines.line_stride, lines.count, depth, panel, width);
  } else if (lines.count == width) {
    copy_panel(lines, width, depth, panel);
  } else {
    for (std::int64_t l = 0; l < depth; ++l) {
      std::copy_n(lines.data + l * lines.depth_stride, lines.count, panel + l * width);
    }
  }
  if (lines.count == width) return;
  for (std::int64_t l = 0; l < depth; ++l) {
    std::fill(panel + l * width + lines.count, panel + (l + 1) * width, 0.0f);
  }
}

// The rows of A that one tile of C needs for one depth block.
struct RowBlock {
  const float* data;
  std::int64_t row_stride;
  std::int64_t depth_stride;
  std::int64_t rows;
  std::int64_t depth;
};

// Returns whether the micro-kernel reads A in place, which it does if rows are contiguous. Rows a multiple of a page
// apart map to the same cache sets, but the kPanelRows rows of a piece fit there, and packing costs more.
inline bool is_read_in_place(const RowBlock& block) { return block.depth_stride == 1; }

// Packs panels of kPanelRows rows: value l of row i of a panel is at [l * kPanelRows + i].
inline void pack_a(const RowBlock& block, float* packed) {
  const hn::CappedTag<float, kPanelRows> d;
  const std::int64_t whole = block.rows / kPanelRows * kPanelRows;
  for (std::int64_t l = 0; l < block.depth; ++l) {
    const float* const values = block.data + l * block.depth_stride;
    float* const to = packed + l * kPanelRows;
    prefetch_ahead(values, whole, block.depth_stride);
    for (std::int64_t i = 0; i < whole; i += kPanelRows)
      hn::Store(hn::LoadU(d, values + i), d, to + i * block.depth);
    std::copy(values + whole, values + block.rows, to + whole * block.depth);
  }
}

// Returns the rows from `row` on, in place or packed.
inline RowPanel row_panel(const RowBlock& block, const float* packed, std::int64_t row) {
  if (is_read_in_place(block)) return {block.data + row * block.row_stride, block.row_stride, 1};
  return {packed + row * block.depth, 1, kPanelRows};
}

}  // namespace HWY_NAMESPACE
}  // namespace hone::kernels
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
