#pragma once

#include <cstddef>
#include <cstdint>

#include "hone/base/thread_pool.h"
#include "hone/kernels/epilogue.h"

/// Convolutions of images and their gradients as matrix products, whose second factor is never stored as a whole:
///
///     y (O, pixels) = weight (O, K) columns (K, pixels),   K = C / groups · KH · KW,
///
/// columns[(c, u, v), (n, i, j)] = x[n, c, i stride - padding + u dilation, j stride - padding + v dilation], zero
/// outside. Sums are over blocks of whole channels, so results have the same bits for any number of threads.
namespace hone::kernels {

/// Sizes of a convolution: y (batch, outputs, result_height, result_width), x (batch, channels, height, width) and
/// weight (outputs, channels / groups, kernel_height, kernel_width).
struct ConvolutionShape {
  std::int64_t batch = 0;
  std::int64_t channels = 0, height = 0, width = 0;
  std::int64_t outputs = 0, kernel_height = 0, kernel_width = 0;
  std::int64_t stride = 1, padding = 0, dilation = 1, groups = 1;

  std::int64_t result_height() const { return positions(height, kernel_height); }
  std::int64_t result_width() const { return positions(width, kernel_width); }
  /// Returns the number of terms of each result.
  std::int64_t depth() const { return channels / groups * kernel_height * kernel_width; }

 private:
  // Returns 0 if the window does not fit.
  std::int64_t positions(std::int64_t size, std::int64_t kernel) const {
    const std::int64_t room = size + 2 * padding - dilation * (kernel - 1) - 1;
    return room < 0 ? 0 : room / stride + 1;
  }
};

/// Options of y = activation(sums + bias + residual).
struct ConvolutionEpilogue {
  const float* bias = nullptr;      ///< (outputs); none when null
  const float* residual = nullptr;  ///< shape of y, which it must not overlap; none when null
  Activation activation = Activation::none;
};

/// Packs the weight in the layout of the product, for repeated convolutions with the same weight. `convolution_pack`
/// fills `convolution_packed_floats` floats, aligned to a cache line.
std::size_t convolution_packed_floats(const ConvolutionShape& shape);
void convolution_pack(ThreadPool& pool, const ConvolutionShape& shape, const float* weight,
                      float* packed);

/// Computes y = conv2d(x, weight), then applies `epilogue`. `packed` is the result of `convolution_pack`.
void convolution(ThreadPool& pool, const ConvolutionShape& shape, const float* x,
                 const float* packed, float* y, const ConvolutionEpilogue& epilogue = {});

/// Computes dx from weight and dy, overwriting it. `workspace` holds `convolution_input_gradient_floats` floats,
/// aligned to a cache line.
std::size_t convolution_input_gradient_floats(const ConvolutionShape& shape);
void convolution_input_gradient(ThreadPool& pool, const ConvolutionShape& shape,
                                const float* weight, const float* dy, float* dx, float* workspace);

/// Computes dweight from x and dy, overwriting it.
void convolution_weight_gradient(ThreadPool& pool, const ConvolutionShape& shape, const float* x,
                                 const float* dy, float* dweight);

}  // namespace hone::kernels
