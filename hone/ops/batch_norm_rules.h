#pragma once

#include "hone/tensor/shape.h"

namespace hone::ops {

/// Throws `UserError` for images (B, C, …) with only one value in a channel, which have no variance for `batch_norm_training`.
void expect_variance(const Sizes& x);

}  // namespace hone::ops
