#pragma once

#include "hone/formats/format.h"
#include "hone/ir/op.h"
#include "hone/passes/pass.h"
#include "hone/runtime/kernel.h"

namespace hone {

/// The tables everything works from. A value: who wants more operations, formats, kernels or passes adds rows to a copy.
/// Graphs and formats point into it, so it must outlive them.
struct Library {
  OpTable ops;
  FormatTable formats;
  KernelTable kernels;
  PassTable passes;
};

/// What this program brings along.
Library builtin_library();

}  // namespace hone
