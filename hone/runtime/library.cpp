#include "hone/runtime/library.h"

#include "hone/ops/list.h"

namespace hone {

Library builtin_library() { return {builtin_ops(), builtin_formats(), cpu_kernels()}; }

}  // namespace hone
