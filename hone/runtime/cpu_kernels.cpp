#include "hone/kernels/gemm.h"
#include "hone/runtime/kernel.h"

namespace hone {

KernelTable cpu_kernels() { return {}; }

}  // namespace hone
