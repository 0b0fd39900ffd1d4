#pragma once

#include <string>
#include <string_view>

#include "hone/base/file.h"
#include "hone/ir/graph.h"

/// graph.hone: the text of a model's graph (hone/ir/print.h) after a line with the format version.
namespace hone {

inline constexpr const char* kGraphFile = "graph.hone";

std::string graph_file_text(const Graph& graph);

/// Throws `UserError` for a text of another version, and with the line number for an invalid graph.
Graph parse_graph_file(std::string_view text, const OpTable& ops, const FormatTable& formats);

/// Throws `UserError` with the path; for a file of more than 64 MiB before reading it.
Graph read_graph_file(const fs::path& file, const OpTable& ops, const FormatTable& formats);

}  // namespace hone
