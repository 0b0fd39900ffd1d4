#pragma once

#include <map>
#include <string>

#include "hone/analysis/colouring.h"
#include "hone/base/file.h"
#include "hone/ir/graph.h"

namespace hone {

struct DrawOptions {
  std::string title;
  /// The number of layers drawn of a run of equal layers (operations, types, formats, marks and numbers). The last one
  /// drawn represents the rest, and its label says how many. 0: draws all.
  std::int64_t equal_layers = 1;
  /// The number of open module levels; a deeper module is drawn as one box. 0: opens all.
  std::int64_t depth = 0;
  Colouring colouring = coloured_by_kind();
  /// Marks of operations and inputs by name, "+", "-" or "~", shown in the box, whose frame has the mark's colour.
  std::map<std::string, char> marks = {};
};

/// A graph in Graphviz's language, with counts of what is visible.
struct Drawing {
  std::string dot;
  std::int64_t operations = 0;     ///< of the graph: drawn, boxed and folded
  std::int64_t drawn = 0;          ///< operations with their own box
  std::int64_t folded_layers = 0;  ///< layers represented by another one
  std::int64_t boxed = 0;          ///< operations inside the box of their module
  std::int64_t modules = 0;        ///< drawn as one box
};

/// "drawn: 40 operations; 5 equal layers with 85 operations folded; 125 in all"
std::string drawn_sentence(const Drawing& drawing);

/// Draws a graph: operations as coloured boxes with a legend, grouped into nested clusters by module. Edges are
/// labelled with the types of values, and parameters appear in the operation that reads them.
Drawing draw(const Graph& graph, const DrawOptions& options);

/// Draws two graphs side by side, each with its own title and marks.
Drawing draw_side_by_side(const Graph& left, const DrawOptions& left_options, const Graph& right,
                          const DrawOptions& right_options, const std::string& title);

/// Renders text in Graphviz's language to a file. The extension selects the format: .svg, .png, .pdf or .dot (the text
/// itself). Throws `UserError` for another extension, or if Graphviz is not installed.
void write_dot(const std::string& dot, const fs::path& file);
inline void write_drawing(const Drawing& drawing, const fs::path& file) {
  write_dot(drawing.dot, file);
}

}  // namespace hone
