#pragma once

#include "hone/frontends/huggingface/architecture.h"

namespace hone {

/// The networks of convolutions with residual connections of He, Zhang, Ren and Sun, "Deep residual learning for image
/// recognition", 2016, as transformers' ResNetForImageClassification computes them. The graph's input is `pixel_values` f32[B,
/// num_channels, image_size, image_size].
Architecture resnet();

}  // namespace hone
