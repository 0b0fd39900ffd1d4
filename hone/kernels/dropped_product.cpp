#include "hone/kernels/dropped_product.h"

#include <algorithm>

#include "hone/kernels/dropout.h"
#include "hone/kernels/gemm.h"
#include "hone/kernels/grain.h"
#include "hone/kernels/scratch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hone/kernels/dropped_product.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "hone/kernels/vector_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hone::kernels {
namespace HWY_NAMESPACE {
namespace {

void multiply_by(std::int64_t count, const float* x, const float* factor, float* y) {
  const Floats d;
  for_vectors(d, count, [&](std::int64_t i, auto part) HWY_ATTR {
    store(hn::Mul(load(d, x + i, part), load(d, factor + i, part)), d, y + i, part);
  });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace hone::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hone::kernels {
namespace {

HWY_EXPORT(multiply_by);

// Returns the rows per block: few enough to stay in the L2 cache, but enough that packing the weight for each block
// costs little.
std::int64_t block_rows(std::int64_t columns) {
  constexpr std::int64_t kBlockFloats = 98304;
  return std::clamp<std::int64_t>(kBlockFloats / std::max<std::int64_t>(1, columns), 16, 128);
}

// Returns the rows per chunk, each with a partial sum.
std::int64_t partial_rows(std::int64_t rows, std::int64_t columns) {
  return rows_per_partial(rows, columns);
}

}  // namespace

void dropped_product(ThreadPool& pool, const DroppedRows& rows, std::int64_t outputs,
                     const float* x, const float* weight, float* y) {
  const std::int64_t columns = rows.columns;
  parallel_ranges(
      pool, rows.count(), block_rows(columns), [&](std::int64_t begin, std::int64_t end) {
        static thread_local Scratch scratch;
        const std::int64_t count = end - begin;
        float* const dropped = scratch.floats(static_cast<std::size_t>(count * columns));
        dropout_rows(rows.probability, rows.stream,
                     rows.first_words.subspan(static_cast<std::size_t>(begin),
                                              static_cast<std::size_t>(count)),
                     columns, x + begin * columns, dropped);
        gemm_single_threaded({count, outputs, columns}, {dropped, columns, 1}, {weight, 1, columns},
                             y + begin * outputs, outputs);
      });
}

std::int64_t dropped_product_workspace_floats(std::int64_t rows, std::int64_t columns,
                                              std::int64_t outputs) {
  const std::int64_t chunk = partial_rows(rows, columns);
  return (rows + chunk - 1) / chunk * outputs * columns;
}

void dropped_product_gradient(ThreadPool& pool, const DroppedRows& rows, std::int64_t outputs,
                              const float* x, const float* weight, const float* dy, float* dx,
                              float* dweight, float* workspace) {
  const std::int64_t columns = rows.columns, block = block_rows(columns);
  const std::int64_t chunk = partial_rows(rows.count(), columns), size = outputs * columns;
  parallel_ranges(pool, rows.count(), chunk, [&](std::int64_t begin, std::int64_t end) {
    static thread_local Scratch scratch;
    const std::int64_t room = std::min(block, end - begin) * columns;
    float* const kept = scratch.floats(static_cast<std::size_t>(2 * room));
    float* const dropped = kept + room;
    float* const sums = workspace + begin / chunk * size;
    for (std::int64_t first = begin; first < end; first += block) {
      const std::int64_t count = std::min(block, end - first), elements = count * columns;
      const float *const input = x + first * columns, *const gradient = dy + first * outputs;
      float* const to = dx + first * columns;
      // Dropout of ones gives the factor of each element.
      std::fill_n(dropped, elements, 1.0f);
      dropout_rows(rows.probability, rows.stream,
                   rows.first_words.subspan(static_cast<std::size_t>(first),
                                            static_cast<std::size_t>(count)),
                   columns, dropped, kept);
      HWY_DYNAMIC_DISPATCH(multiply_by)(elements, input, kept, dropped);
      gemm_single_threaded({outputs, columns, count}, {gradient, 1, outputs}, {dropped, columns, 1},
                           sums, columns, {.accumulate = first != begin});
      gemm_single_threaded({count, columns, outputs}, {gradient, outputs, 1}, {weight, columns, 1},
                           to, columns);
      HWY_DYNAMIC_DISPATCH(multiply_by)(elements, to, kept, to);
    }
  });
  std::fill_n(dweight, size, 0.0f);
  for (std::int64_t begin = 0; begin < rows.count(); begin += chunk) {
    const float* const sums = workspace + begin / chunk * size;
    for (std::int64_t i = 0; i < size; ++i) dweight[i] += sums[i];
  }
}

}  // namespace hone::kernels
#endif  // HWY_ONCE
