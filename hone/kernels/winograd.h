#pragma once

#include <cstddef>
#include <string_view>

#include "hone/base/thread_pool.h"
#include "hone/kernels/convolution.h"

/// Convolutions of 3 x 3 and stride 1 by 16 products for every 4 results and channel, where their definition takes 36: Winograd's
/// minimal filtering F(2 x 2, 3 x 3) (Lavin and Gray, "Fast algorithms for convolutional neural networks", 2016, section 4.1).
/// Tiles of 4 x 4 of x, which overlap by 2, and the weight are transformed by additions and halves; sums over channels are 16
/// products of matrices; tiles of 2 x 2 of y are sums of 9 of those.
///
/// It rounds other values than the definition does: a value of x, transformed, may be 4 times the largest of x, one of the
/// weight 9/4, and 9 sums make a result, so the bound on its error is 9 times that of the definition's. Of values whose signs are mixed
/// the error is about the same (loc. cit., section 5.3). Results have the same bits for any number of threads and any batch.
namespace hone::kernels {

/// "" where these kernels compute such a convolution, and in less time than `convolution`, else why not.
std::string_view winograd_refusal(const ConvolutionShape& shape);
/// The same of `winograd_input_gradient`.
std::string_view winograd_input_gradient_refusal(const ConvolutionShape& shape);

/// The weight as the product reads it. `winograd_pack` fills `winograd_packed_floats` floats, aligned to a line of the
/// cache.
std::size_t winograd_packed_floats(const ConvolutionShape& shape);
void winograd_pack(ThreadPool& pool, const ConvolutionShape& shape, const float* weight,
                   float* packed);

/// y = conv2d(x, weight) through `epilogue`. `packed` is the weight as `winograd_pack` leaves it.
void winograd_convolution(ThreadPool& pool, const ConvolutionShape& shape, const float* x,
                          const float* packed, float* y, const ConvolutionEpilogue& epilogue = {});

/// dx, overwritten, by weight and dy. `workspace` has room for `winograd_input_gradient_floats` floats, aligned to a line of
/// the cache.
std::size_t winograd_input_gradient_floats(const ConvolutionShape& shape);
void winograd_input_gradient(ThreadPool& pool, const ConvolutionShape& shape, const float* weight,
                             const float* dy, float* dx, float* workspace);

}  // namespace hone::kernels
