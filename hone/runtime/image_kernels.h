#pragma once

#include "hone/runtime/kernel.h"

namespace hone {

/// CPU kernels for images: convolutions, batch norms and pooling.
KernelTable image_kernels();

}  // namespace hone
