#pragma once

#include "hone/tensor/shape.h"

namespace hone::ops {

/// Throws `UserError` for images (B, C, …) with only one value per channel: `batch_norm_training` needs a variance.
void expect_variance(const Sizes& x);

}  // namespace hone::ops
