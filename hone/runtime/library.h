#pragma once

#include "hone/formats/format.h"
#include "hone/ir/op.h"
#include "hone/passes/pass.h"
#include "hone/runtime/kernel.h"

namespace hone {

/// The tables of operations, formats, kernels and passes. To add more, add rows to a copy. Graphs and formats point
/// into it, so it must outlive them.
struct Library {
  OpTable ops;
  FormatTable formats;
  KernelTable kernels;
  PassTable passes;
};

Library builtin_library();

}  // namespace hone
