#pragma once
// Arguments of a convolution as a matrix product. The host's compiler and NVRTC both compile this header.
#include <cstdint>

namespace hone::cuda {

/// Divides numbers below 2^31 by a divisor that is the same for all threads: n / divisor = n * factor >> shift
/// (Granlund and Montgomery, "Division by invariant integers using multiplication", 1994).
struct Divisor {
  std::int32_t divisor;
  std::uint32_t factor, shift;
};

/// A matrix (rows, columns) of results and the place of each in a tensor. Column q is pixel (i, j) of a grid in image n:
/// q = (n * grid height + i) * grid width + j. Element (row, q) has the offset
/// n * image + row * plane + (i * step + first_row) * width + j * step + first_column.
struct Results {
  std::int32_t rows, columns;
  Divisor grid, grid_width;  ///< pixels of a grid, and of one of its rows
  std::int64_t image, plane;
  std::int32_t width, step, first_row, first_column;
};

/// The elements that a product reads from images: pixel (n, i, j) and tap (r, c) of a channel read row
/// i * step + first + tap_row + r * tap_row_step of the channel, and the column that follows from j and c in the same way. The element is
/// 0 outside of the image.
struct Window {
  std::int64_t image;  ///< elements of an image
  std::int32_t height, width;
  std::int32_t channel_stride, pixel_stride;  ///< elements from channel to channel, and from pixel to pixel
  std::int32_t pixels;                        ///< of all images
  Divisor grid, grid_width;                   ///< as in `Results`
  std::int32_t step, first;
  std::int32_t depth;  ///< channels * taps
  Divisor inner;       ///< taps, or channels if these are the innermost index of the depth
  Divisor tap_width;   ///< taps of a row
  std::int32_t tap_row, tap_column, tap_row_step, tap_column_step;
};

/// A convolution with groups, for kernels that compute each result separately.
struct GroupedConvolution {
  std::int64_t batch;
  std::int32_t channels, height, width, outputs, result_height, result_width;
  std::int32_t kernel_height, kernel_width, stride, padding, dilation;
  std::int32_t group_channels, group_outputs;
};

}  // namespace hone::cuda
