#pragma once

#include "hone/ops/list.h"

namespace hone::testing {

/// The builtin operations, the same ones for all of a test.
inline const OpTable& ops() {
  static const OpTable table = builtin_ops();
  return table;
}

}  // namespace hone::testing
