#pragma once

#include <cstdint>
#include <vector>

#include "hone/kernels/convolution.h"

/// The positions that a convolution reads, for the products of convolution.h.
namespace hone::kernels {

/// A place (n, i, j) of the grid.
struct GridPlace {
  std::int64_t image = 0, row = 0, column = 0;
};

/// A grid of places (n, i, j). Each reads images[n, c, i step + u, j step + v] for every channel c and every tap (u, v)
/// of row_taps x column_taps.
struct Grid {
  const float* images = nullptr;  ///< the first channel that is read, in the first image
  std::int64_t elements = 0;      ///< from there on
  std::int64_t batch = 0, channels = 0, height = 0, width = 0;
  std::int64_t image_stride = 0, channel_stride = 0;
  std::int64_t rows = 0, columns = 0;  ///< of places per image
  std::int64_t step = 1;
  std::vector<std::int64_t> row_taps, column_taps;

  std::int64_t taps() const {
    return static_cast<std::int64_t>(row_taps.size() * column_taps.size());
  }
  std::int64_t places() const { return batch * rows * columns; }
  GridPlace place(std::int64_t index) const {
    return {index / (rows * columns), index / columns % rows, index % columns};
  }
  void advance(GridPlace& place) const {
    if (++place.column < columns) return;
    place.column = 0;
    if (++place.row < rows) return;
    place.row = 0;
    ++place.image;
  }
};

/// Returns the grid of the results of a group over x.
inline Grid forward_grid(const ConvolutionShape& shape, const float* x, std::int64_t group) {
  const std::int64_t pixels = shape.height * shape.width, channels = shape.channels / shape.groups,
                     skipped = group * channels * pixels;
  Grid grid{.images = x + skipped,
            .elements = shape.batch * shape.channels * pixels - skipped,
            .batch = shape.batch,
            .channels = channels,
            .height = shape.height,
            .width = shape.width,
            .image_stride = shape.channels * pixels,
            .channel_stride = pixels,
            .rows = shape.result_height(),
            .columns = shape.result_width(),
            .step = shape.stride,
            .row_taps = {},
            .column_taps = {}};
  for (std::int64_t u = 0; u < shape.kernel_height; ++u)
    grid.row_taps.push_back(u * shape.dilation - shape.padding);
  for (std::int64_t v = 0; v < shape.kernel_width; ++v)
    grid.column_taps.push_back(v * shape.dilation - shape.padding);
  return grid;
}

/// Splits channels into blocks of nearly equal numbers of products: at most `kMaxDepth`, unless a channel has more.
/// Depends on the sizes alone.
inline constexpr std::int64_t kMaxDepth = 256;
inline std::int64_t channel_blocks(std::int64_t channels, std::int64_t taps) {
  const std::int64_t depth = channels * taps, blocks = (depth + kMaxDepth - 1) / kMaxDepth;
  return blocks < 1 ? 1 : blocks > channels ? channels : blocks;
}
/// Returns the first channel of a block.
inline std::int64_t block_begin(std::int64_t channels, std::int64_t blocks, std::int64_t block) {
  return channels * block / blocks;
}

}  // namespace hone::kernels
