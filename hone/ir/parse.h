#pragma once

#include <string_view>

#include "hone/ir/graph.h"

namespace hone {

/// Parses the text form of a graph (see print.h). Skips empty lines and lines that begin with `#`. Throws `UserError`
/// with the line number for syntax errors, unknown names, and types that do not follow from the inputs.
Graph parse_graph(std::string_view text, const OpTable& ops, const FormatTable& formats);

}  // namespace hone
