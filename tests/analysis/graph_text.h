#pragma once

#include <string_view>

#include "hone/ir/parse.h"
#include "hone/ops/list.h"

namespace hone::testing {

/// Returns the builtin operations, the same table for all of a test.
inline const OpTable& ops() {
  static const OpTable table = builtin_ops();
  return table;
}

inline Graph parse(std::string_view text) {
  static const FormatTable formats = builtin_formats();
  return parse_graph(text, ops(), formats);
}

}  // namespace hone::testing
