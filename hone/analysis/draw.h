#pragma once

#include <string>

#include "hone/base/file.h"
#include "hone/ir/graph.h"

namespace hone {

/// The graph in Graphviz's language: operations as boxes coloured by their trait, grouped by module down to the encoder
/// layer, with their types; parameters are folded into the operation that reads them.
std::string to_dot(const Graph& graph, const std::string& title);

/// Draws the graph with Graphviz. The format follows the file's extension: .svg, .png, .pdf or .dot (the text itself).
/// Throws `UserError` for another extension, or when Graphviz is not installed.
void draw_graph(const Graph& graph, const std::string& title, const fs::path& file);

}  // namespace hone
