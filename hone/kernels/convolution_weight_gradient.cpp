// dweight (O, K) = dy (O, pixels) columns (K, pixels)^T. A chunk covers some channels of x, and so some columns of
// dweight, and some outputs. It processes all images in blocks of pixels: it writes the columns of its channels for a
// block, packs them to panels and adds the products to its sums. The order of additions does not depend on the chunks.
#include <algorithm>
#include <numeric>

#include "hone/kernels/convolution.h"
#include "hone/kernels/convolution_grid.h"
#include "hone/kernels/grain.h"
#include "hone/kernels/scratch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hone/kernels/convolution_weight_gradient.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "hone/kernels/convolution_columns-inl.h"
#include "hone/kernels/gemm_pack-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hone::kernels {
namespace HWY_NAMESPACE {
namespace {

constexpr std::int64_t kPanelColumns = kPanelVectors * kLanes;

// The product of one group.
struct WeightProduct {
  Grid grid;
  const float* dy;  // at the first output of the group
  std::int64_t rows, dy_image_stride;
  float* dweight;  // (rows, channels taps)

  std::int64_t pixels() const { return grid.rows * grid.columns; }
};

// Returns the channels of a chunk: enough for a multiple of the columns of a panel, or all.
std::int64_t chunk_channels(const WeightProduct& product) {
  constexpr std::int64_t kColumns = 96;
  const std::int64_t whole = kPanelColumns / std::gcd(kPanelColumns, product.grid.taps());
  const std::int64_t wanted =
      std::max<std::int64_t>(1, kColumns / (whole * product.grid.taps())) * whole;
  return std::min(product.grid.channels, wanted);
}

// Adds the products of some pixels of an image, with `values` (columns, padded pixels) packed to panels.
void add_pixels(const WeightProduct& product, const float* values, std::int64_t value_stride,
                std::int64_t columns, std::int64_t image, std::int64_t pixel_begin,
                std::int64_t depth, std::int64_t row_begin, std::int64_t row_end, float* sums,
                std::int64_t sum_stride) {
  static thread_local Scratch scratch;
  float* const panel = scratch.floats(static_cast<std::size_t>(depth * kPanelColumns));
  for (std::int64_t column = 0; column < columns; column += kPanelColumns) {
    const std::int64_t count = std::min(kPanelColumns, columns - column),
                       vectors = ceil_div(count, kLanes);
    pack_panel({values + column * value_stride, value_stride, 1, count}, vectors * kLanes, depth,
               panel);
    for (std::int64_t row = row_begin; row < row_end; row += kPanelRows) {
      const std::int64_t rows = std::min<std::int64_t>(kPanelRows, row_end - row);
      const float* const dy =
          product.dy + image * product.dy_image_stride + row * product.pixels() + pixel_begin;
      micro_kernel<KeepSums>(rows, vectors)(
          {dy, product.pixels(), 1}, depth, {panel},
          {sums + (row - row_begin) * sum_stride + column, sum_stride, /*add=*/true});
    }
  }
}

void compute_chunk(const WeightProduct& product, std::int64_t channel_begin,
                   std::int64_t channel_end, std::int64_t row_begin, std::int64_t row_end) {
  static thread_local Scratch values_scratch, sums_scratch;
  static thread_local Columns places;
  const std::int64_t columns = (channel_end - channel_begin) * product.grid.taps(),
                     sum_stride = ceil_div(columns, kPanelColumns) * kPanelColumns,
                     pixels = product.pixels(), blocks = ceil_div(pixels, kMaxDepth);
  const std::int64_t sum_rows = ceil_div(row_end - row_begin, kPanelRows) * kPanelRows;
  float* const sums = sums_scratch.floats(static_cast<std::size_t>(sum_rows * sum_stride));
  std::fill_n(sums, sum_rows * sum_stride, 0.0f);
  float* const values =
      values_scratch.floats(static_cast<std::size_t>(columns * (kMaxDepth + kLanes)));
  for (std::int64_t image = 0; image < product.grid.batch; ++image) {
    for (std::int64_t block = 0; block < blocks; ++block) {
      const std::int64_t begin = block_begin(pixels, blocks, block),
                         end = block_begin(pixels, blocks, block + 1);
      places.take(product.grid, image * pixels + begin, image * pixels + end);
      const std::int64_t stride = places.vectors() * kLanes;
      places.write(product.grid, channel_begin, channel_end, values, stride);
      add_pixels(product, values, stride, columns, image, begin, end - begin, row_begin, row_end,
                 sums, sum_stride);
    }
  }
  const std::int64_t depth = product.grid.channels * product.grid.taps();
  for (std::int64_t row = row_begin; row < row_end; ++row)
    std::copy_n(sums + (row - row_begin) * sum_stride, columns,
                product.dweight + row * depth + channel_begin * product.grid.taps());
}

void weight_gradient(ThreadPool& pool, const ConvolutionShape& s, const float* x, const float* dy,
                     float* dweight) {
  constexpr std::int64_t kMaxRows = 256, kMinRows = 32, kEnough = 16;
  const std::int64_t rows = s.outputs / s.groups, pixels = s.result_height() * s.result_width();
  for (std::int64_t g = 0; g < s.groups; ++g) {
    const WeightProduct product{forward_grid(s, x, g), dy + g * rows * pixels, rows,
                                s.outputs * pixels, dweight + g * rows * s.depth()};
    const std::int64_t width = chunk_channels(product), channels = product.grid.channels,
                       parts = ceil_div(channels, width);
    std::int64_t row_tiles = ceil_div(rows, kMaxRows);
    while (parts * row_tiles < kEnough && rows / row_tiles > kMinRows) row_tiles *= 2;
    parallel_ranges(pool, parts * row_tiles, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t part = i / row_tiles, tile = i % row_tiles;
        compute_chunk(product, part * width, std::min(channels, (part + 1) * width),
                      block_begin(rows, row_tiles, tile), block_begin(rows, row_tiles, tile + 1));
      }
    });
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace hone::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hone::kernels {

HWY_EXPORT(weight_gradient);

void convolution_weight_gradient(ThreadPool& pool, const ConvolutionShape& shape, const float* x,
                                 const float* dy, float* dweight) {
  HWY_DYNAMIC_DISPATCH(weight_gradient)(pool, shape, x, dy, dweight);
}

}  // namespace hone::kernels
#endif  // HWY_ONCE
