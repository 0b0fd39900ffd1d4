#pragma once

#include "hone/runtime/kernel.h"

namespace hone {

/// The CPU kernels of images: convolutions, batch norms and pooling.
KernelTable image_kernels();

}  // namespace hone
