#pragma once

#include "hone/ir/op.h"

namespace hone {

/// The operations of this library. A program adds its own to the table it gets:
/// `ops.emplace("swish", swish())`.
OpTable builtin_ops();

}  // namespace hone
