#pragma once

#include "hone/frontends/huggingface/architecture.h"

namespace hone {

/// Convolutional networks with residual connections (He, Zhang, Ren and Sun, "Deep residual learning for image
/// recognition", 2016), as in transformers' ResNetForImageClassification. The graph's input is `pixel_values` f32[B,
/// num_channels, image_size, image_size].
Architecture resnet();

}  // namespace hone
