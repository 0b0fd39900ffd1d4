#pragma once

#include <string_view>

#include "hone/ir/graph.h"

namespace hone {

/// Reads the text form of a graph (see print.h). Empty lines and lines that begin with `#` are
/// skipped. Throws `UserError` with the line number for anything malformed, unknown names, and
/// types that do not follow from the inputs.
Graph parse_graph(std::string_view text, const OpTable& ops, const FormatTable& formats);

}  // namespace hone
