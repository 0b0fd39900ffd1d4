#pragma once

#include <string>
#include <string_view>

#include "hone/base/file.h"
#include "hone/ir/graph.h"

/// graph.hone: the text of a model's graph (hone/ir/print.h) behind a line that names the version of that text.
namespace hone {

inline constexpr const char* kGraphFile = "graph.hone";

std::string graph_file_text(const Graph& graph);

/// Throws `UserError` for a text of another version, and with the line for one that is no graph.
Graph parse_graph_file(std::string_view text, const OpTable& ops, const FormatTable& formats);

/// Throws `UserError` with the path, for a file of more than 64 MiB before it is read.
Graph read_graph_file(const fs::path& file, const OpTable& ops, const FormatTable& formats);

}  // namespace hone
