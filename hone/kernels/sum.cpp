// The dimensions of x are either kept or summed. With P kept and Q summed elements, x is a (P,Q) grid, any part of
// which can be summed separately. Large P is split into chunks that each sum all of Q. Otherwise Q is split, every
// chunk computes P partial sums, and these are added in order.
#include "hone/kernels/sum.h"

#include <algorithm>
#include <array>

#include "hone/base/error.h"
#include "hone/kernels/grain.h"
#include "hone/kernels/loop_nest.h"
#include "hone/kernels/scratch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hone/kernels/sum.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "hone/kernels/lane_sum-inl.h"
#include "hone/kernels/vector_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hone::kernels {
namespace HWY_NAMESPACE {
namespace {

// Adds the sum over r < rows of x[r row_stride + i] to to[i], for i < width. Four rows at a time, to save loads of
// `to`.
void add_rows(std::int64_t rows, std::int64_t row_stride, std::int64_t width, const float* x,
              float* to) {
  const Floats d;
  std::int64_t r = 0;
  for (; r + 4 <= rows; r += 4) {
    const float* const row = x + r * row_stride;
    for_vectors(d, width, [&](std::int64_t i, auto part) HWY_ATTR {
      const auto first = hn::Add(load(d, row + i, part), load(d, row + row_stride + i, part));
      const auto second =
          hn::Add(load(d, row + 2 * row_stride + i, part), load(d, row + 3 * row_stride + i, part));
      store(hn::Add(load(d, to + i, part), hn::Add(first, second)), d, to + i, part);
    });
  }
  for (; r < rows; ++r) {
    const float* const row = x + r * row_stride;
    for_vectors(d, width, [&](std::int64_t i, auto part) HWY_ATTR {
      store(hn::Add(load(d, to + i, part), load(d, row + i, part)), d, to + i, part);
    });
  }
}

float sum_row(std::int64_t n, const float* x) {
  return sum_of_terms(
      n, [&](std::int64_t i, auto part) HWY_ATTR { return load(Floats(), x + i, part); });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace hone::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hone::kernels {
namespace {

HWY_EXPORT(add_rows);
HWY_EXPORT(sum_row);

using Extents = std::span<const std::int64_t>;
using Dimensions = std::array<std::int64_t, kMaxRank>;

// A contiguous tensor as a grid (kept, summed).
struct Grid {
  LoopNest<1> kept;
  LoopNest<1> summed;
  const float* x;

  // Returns whether the innermost dimension of x is kept: then rows are added, otherwise each row is summed.
  bool keeps_innermost() const { return kept.inner_stride(0) == 1 && kept.elements() > 1; }
};

Grid grid_of(Extents shape, const float* x, Extents out_shape) {
  HONE_ASSERT(shape.size() == out_shape.size() && shape.size() <= kMaxRank,
              "sum of rank {} to rank {}", shape.size(), out_shape.size());
  Dimensions kept{};
  Dimensions summed{};
  Dimensions strides{};
  std::int64_t stride = 1;
  for (std::size_t d = shape.size(); d-- > 0;) {
    HONE_ASSERT(out_shape[d] == shape[d] || out_shape[d] == 1, "sum of size {} to size {}",
                shape[d], out_shape[d]);
    kept[d] = out_shape[d];
    summed[d] = out_shape[d] == shape[d] ? 1 : shape[d];
    strides[d] = stride;
    stride *= shape[d];
  }
  const Extents all(strides.data(), shape.size());
  return {{Extents(kept.data(), shape.size()), {all}},
          {Extents(summed.data(), shape.size()), {all}},
          x};
}

// Half-open range of element indices.
struct Part {
  std::int64_t begin;
  std::int64_t end;
};

// Sets to[p - kept.begin] to the sum over q in `summed` of x(p, q), for p in `kept`.
void sum_part(const Grid& grid, Part kept, Part summed, float* to) {
  std::fill_n(to, kept.end - kept.begin, 0.0f);
  if (grid.keeps_innermost()) {
    grid.kept.for_runs(
        kept.begin, kept.end, [&](std::int64_t p, std::int64_t width, const auto& from) {
          grid.summed.for_runs(summed.begin, summed.end,
                               [&](std::int64_t, std::int64_t rows, const auto& first) {
                                 HWY_DYNAMIC_DISPATCH(add_rows)
                                 (rows, grid.summed.inner_stride(0), width,
                                  grid.x + from[0] + first[0], to + (p - kept.begin));
                               });
        });
    return;
  }
  for (std::int64_t p = kept.begin; p < kept.end; ++p) {
    const float* const from = grid.x + grid.kept.offsets(p)[0];
    double sum = 0.0;
    grid.summed.for_runs(summed.begin, summed.end,
                         [&](std::int64_t, std::int64_t count, const auto& first) {
                           sum += double{HWY_DYNAMIC_DISPATCH(sum_row)(count, from + first[0])};
                         });
    to[p - kept.begin] = static_cast<float>(sum);
  }
}

// Every chunk sums all of Q for some of P.
void sum_by_kept(ThreadPool& pool, const Grid& grid, float* out) {
  constexpr std::int64_t kMinWidth = 64;  // narrower chunks would share cache lines of x
  const std::int64_t least = grid.keeps_innermost() ? kMinWidth : 1;
  const std::int64_t summed = grid.summed.elements();
  parallel_ranges(pool, grid.kept.elements(), std::max(least, rows_per_chunk(summed)),
                  [&](std::int64_t begin, std::int64_t end) {
                    sum_part(grid, {begin, end}, {0, summed}, out + begin);
                  });
}

// Every chunk sums some of Q for all of P.
void sum_by_summed(ThreadPool& pool, const Grid& grid, float* out) {
  static thread_local Scratch scratch;
  const std::int64_t kept = grid.kept.elements();
  const std::int64_t summed = grid.summed.elements();
  const std::int64_t grain = rows_per_partial(summed, kept);
  const std::int64_t chunks = (summed + grain - 1) / grain;
  float* const partials =
      scratch.floats(static_cast<std::size_t>(chunks * kept));  // (chunks, kept)
  parallel_ranges(pool, summed, grain, [&](std::int64_t begin, std::int64_t end) {
    sum_part(grid, {0, kept}, {begin, end}, partials + begin / grain * kept);
  });
  std::fill_n(out, kept, 0.0f);
  HWY_DYNAMIC_DISPATCH(add_rows)(chunks, kept, kept, partials, out);
}

}  // namespace

void sum_to(ThreadPool& pool, Extents shape, const float* x, Extents out_shape, float* out) {
  constexpr std::int64_t kManyColumns = 16384;
  constexpr std::int64_t kManyRows = 16;
  const Grid grid = grid_of(shape, x, out_shape);
  const std::int64_t many = grid.keeps_innermost() ? kManyColumns : kManyRows;
  if (grid.kept.elements() >= many) {
    sum_by_kept(pool, grid, out);
  } else {
    sum_by_summed(pool, grid, out);
  }
}

}  // namespace hone::kernels
#endif  // HWY_ONCE
