// Copies of strided tensors: runs where the innermost dimension is contiguous, transposed blocks
// where another one is, single elements otherwise.
#include <algorithm>
#include <array>

#include "hone/kernels/elementwise.h"
#include "hone/kernels/grain.h"
#include "hone/kernels/loop_nest.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hone/kernels/copy.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "hone/kernels/transpose-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hone::kernels {
namespace HWY_NAMESPACE {

// Sets to[c * to_stride + r] = from[r * from_stride + c], in pieces of rows that fit in the L1 cache on both sides.
void transpose(const float* from, std::int64_t from_stride, std::int64_t rows, std::int64_t columns,
               float* to, std::int64_t to_stride) {
  constexpr std::int64_t kPiece = 32;
  for (std::int64_t r = 0; r < rows; r += kPiece) {
    transpose_block(from + r * from_stride, from_stride, rows - r < kPiece ? rows - r : kPiece,
                    columns, to + r, to_stride);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace hone::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hone::kernels {
namespace {

HWY_EXPORT(transpose);

using Nest = LoopNest<1>;

void copy_runs(ThreadPool& pool, const Nest& nest, const float* x, float* out) {
  const std::int64_t stride = nest.inner_stride(0);
  parallel_ranges(pool, nest.elements(), kChunkElements, [&](std::int64_t begin, std::int64_t end) {
    nest.for_runs(begin, end, [&](std::int64_t index, std::int64_t count, const auto& offsets) {
      const float* const from = x + offsets[0];
      float* const to = out + index;
      if (stride == 1) {
        std::copy_n(from, count, to);
      } else {
        for (std::int64_t i = 0; i < count; ++i) to[i] = from[i * stride];
      }
    });
  });
}

// Returns the dimension with stride 1 and at least 4 elements, or -1.
int contiguous_dimension(const Nest& nest) {
  for (int d = 0; d < nest.rank; ++d) {
    if (nest.strides[0][d] == 1 && nest.sizes[d] >= 4) return d;
  }
  return -1;
}

// Transposes planes of the innermost dimension and `contiguous`, another dimension, in which x has stride 1. A chunk
// copies some columns of a plane, which are rows of the result.
void copy_transposed(ThreadPool& pool, const Nest& nest, int contiguous, const float* x,
                     float* out) {
  constexpr std::int64_t kColumns = 64;
  std::int64_t out_stride = 1;  // of the contiguous dimension
  for (int d = contiguous + 1; d < nest.rank; ++d) out_stride *= nest.sizes[d];
  // The loop over planes runs over all other dimensions, with the strides of x and of the result.
  std::array<std::int64_t, kMaxRank> sizes = nest.sizes;
  sizes[contiguous] = 1;
  sizes[nest.rank - 1] = 1;
  std::array<std::int64_t, kMaxRank> out_strides{};
  std::int64_t stride = 1;
  for (int d = nest.rank - 1; d >= 0; --d) {
    out_strides[d] = stride;
    stride *= nest.sizes[d];
  }
  const auto rank = static_cast<std::size_t>(nest.rank);
  const LoopNest<2> planes(Extents(sizes.data(), rank), {Extents(nest.strides[0].data(), rank),
                                                         Extents(out_strides.data(), rank)});
  const std::int64_t columns = nest.sizes[contiguous];
  const std::int64_t blocks = (columns + kColumns - 1) / kColumns;
  const std::int64_t grain = rows_per_chunk(kColumns * nest.inner_size());
  parallel_ranges(
      pool, planes.elements() * blocks, grain, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
          const auto [from, to] = planes.offsets(i / blocks);
          const std::int64_t first = i % blocks * kColumns;
          HWY_DYNAMIC_DISPATCH(transpose)
          (x + from + first, nest.inner_stride(0), nest.inner_size(),
           std::min(kColumns, columns - first), out + to + first * out_stride, out_stride);
        }
      });
}

}  // namespace

void copy(ThreadPool& pool, Extents shape, const Strided& x, float* out) {
  const Nest nest(shape, {x.strides});
  const int contiguous = contiguous_dimension(nest);
  if (contiguous < 0 || contiguous == nest.rank - 1) {
    copy_runs(pool, nest, x.data, out);
  } else {
    copy_transposed(pool, nest, contiguous, x.data, out);
  }
}

}  // namespace hone::kernels
#endif  // HWY_ONCE
