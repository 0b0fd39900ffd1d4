#pragma once

#include "hone/ir/op.h"
#include "hone/kernels/convolution.h"

/// Shared code of the records of `conv2d`, its gradients and `fused_conv2d`.
namespace hone::ops {

/// Returns stride, padding, dilation and groups, with their defaults.
Attributes convolution_attributes();

/// Throws `UserError` unless `type` is images (B, C, H, W) of f32, bf16 or f16 with known channels, height and width.
void expect_images(const Type& type, std::string_view what);

/// Returns the result type (B, O, OH, OW) of such images and a weight (O, C / groups, KH, KW) of the same element type.
/// Throws `UserError` if they or the attributes do not fit.
Type convolution_result(const Type& x, const Type& weight, const Attributes& attributes);

/// Returns the extents of a convolution of tensors with these sizes.
kernels::ConvolutionShape convolution_shape(const Sizes& x, const Sizes& weight,
                                            const Attributes& attributes);

/// Calls body(x, weight, y) with the offsets of both factors of every product and of the result element it is added to.
template <typename Body>
void for_each_product(const kernels::ConvolutionShape& s, Body&& body) {
  const std::int64_t group_channels = s.channels / s.groups, group_outputs = s.outputs / s.groups;
  std::int64_t y = 0;
  for (std::int64_t n = 0; n < s.batch; ++n)
    for (std::int64_t o = 0; o < s.outputs; ++o)
      for (std::int64_t i = 0; i < s.result_height(); ++i)
        for (std::int64_t j = 0; j < s.result_width(); ++j, ++y)
          for (std::int64_t c = 0; c < group_channels; ++c)
            for (std::int64_t u = 0; u < s.kernel_height; ++u)
              for (std::int64_t v = 0; v < s.kernel_width; ++v) {
                const std::int64_t row = i * s.stride - s.padding + u * s.dilation,
                                   column = j * s.stride - s.padding + v * s.dilation;
                if (row < 0 || row >= s.height || column < 0 || column >= s.width) continue;
                const std::int64_t channel = o / group_outputs * group_channels + c;
                body(((n * s.channels + channel) * s.height + row) * s.width + column,
                     ((o * group_channels + c) * s.kernel_height + u) * s.kernel_width + v, y);
              }
}

}  // namespace hone::ops
