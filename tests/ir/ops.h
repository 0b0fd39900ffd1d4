#pragma once

#include "hone/ops/list.h"

namespace hone::testing {

/// Returns the builtin operations, the same table for all of a test.
inline const OpTable& ops() {
  static const OpTable table = builtin_ops();
  return table;
}

}  // namespace hone::testing
