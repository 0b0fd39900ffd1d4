#pragma once

#include "hone/ir/op.h"
#include "hone/kernels/convolution.h"

/// What the records of convolutions share: `conv2d`, its gradients and `fused_conv2d`.
namespace hone::ops {

/// stride, padding, dilation and groups, with defaults.
Attributes convolution_attributes();

/// Images (B, C, H, W) of f32, bf16 or f16 whose channels, height and width are known. Throws `UserError` for others.
void expect_images(const Type& type, std::string_view what);

/// The result (B, O, OH, OW) of such images and a weight (O, C / groups, KH, KW) of the same type. Throws `UserError` where they or
/// the attributes do not fit.
Type convolution_result(const Type& x, const Type& weight, const Attributes& attributes);

/// Sizes of a convolution of tensors of such sizes.
kernels::ConvolutionShape convolution_shape(const Sizes& x, const Sizes& weight,
                                            const Attributes& attributes);

/// Calls body(x, weight, y) with the places of all factors and of the element of the result that their product is part of.
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
