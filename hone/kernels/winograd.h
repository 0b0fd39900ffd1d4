#pragma once

#include <cstddef>
#include <string_view>

#include "hone/base/thread_pool.h"
#include "hone/kernels/convolution.h"

/// Convolutions of 3 x 3 and stride 1 with 16 multiplications for every 4 results and channel instead of 36: Winograd's
/// minimal filtering F(2 x 2, 3 x 3) (Lavin and Gray, "Fast algorithms for convolutional neural networks", 2016,
/// section 4.1). Tiles of 4 x 4 of x, which overlap by 2, and the weight are transformed with additions and halving.
/// The sums over channels are 16 matrix products. Each value of a 2 x 2 tile of y is a sum of 9 of their results.
///
/// It rounds other values than the direct sum. A transformed value may be 4 times the largest of x, or 9/4 of the
/// largest weight, and a result adds 9 sums, so the error bound is 9 times that of the direct sum. For values of mixed
/// signs the error is about the same (loc. cit., section 5.3). Results have the same bits for any number of threads and
/// any batch.
namespace hone::kernels {

/// Returns "" if these kernels support the convolution and are faster than `convolution`, else why not.
std::string_view winograd_unsupported_reason(const ConvolutionShape& shape);
/// The same for `winograd_input_gradient`.
std::string_view winograd_input_gradient_unsupported_reason(const ConvolutionShape& shape);

/// Packs the weight in the layout of the product. `winograd_pack` fills `winograd_packed_floats` floats, aligned to a
/// cache line.
std::size_t winograd_packed_floats(const ConvolutionShape& shape);
void winograd_pack(ThreadPool& pool, const ConvolutionShape& shape, const float* weight,
                   float* packed);

/// Computes y = conv2d(x, weight), then applies `epilogue`. `packed` is the result of `winograd_pack`.
void winograd_convolution(ThreadPool& pool, const ConvolutionShape& shape, const float* x,
                          const float* packed, float* y, const ConvolutionEpilogue& epilogue = {});

/// Computes dx from weight and dy, overwriting it. `workspace` holds `winograd_input_gradient_floats` floats, aligned
/// to a cache line.
std::size_t winograd_input_gradient_floats(const ConvolutionShape& shape);
void winograd_input_gradient(ThreadPool& pool, const ConvolutionShape& shape, const float* weight,
                             const float* dy, float* dx, float* workspace);

}  // namespace hone::kernels
