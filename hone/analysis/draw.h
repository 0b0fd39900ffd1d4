#pragma once

#include <map>
#include <string>

#include "hone/analysis/colouring.h"
#include "hone/base/file.h"
#include "hone/ir/graph.h"

namespace hone {

struct DrawOptions {
  std::string title;
  /// Of layers in a row that are equal (operations, types, formats, marks and numbers) so many are drawn; the last of them stands for
  /// the others, and its box says for how many. 0: all are drawn.
  std::int64_t equal_layers = 1;
  /// So many levels of modules are opened; a module further in is one box. 0: all are.
  std::int64_t depth = 0;
  Colouring colouring = coloured_by_kind();
  /// Operations and inputs that stand out, by name: "+", "-" or "~", which their boxes bear in a frame of its colour.
  std::map<std::string, char> marks = {};
};

/// A graph in Graphviz's language, and what of it one sees.
struct Drawing {
  std::string dot;
  std::int64_t operations = 0;     ///< of the graph: those drawn and those of folded layers
  std::int64_t drawn = 0;          ///< operations that have a box of their own
  std::int64_t folded_layers = 0;  ///< that another layer stands for
  std::int64_t boxed = 0;          ///< operations that stand in the box of their module
  std::int64_t modules = 0;        ///< that are one box
};

/// "drawn: 40 operations; 5 equal layers with 85 operations folded; 125 in all"
std::string drawn_sentence(const Drawing& drawing);

/// The graph as a drawing: operations as boxes, coloured as a legend says; grouped by module, each cluster within that of the
/// module around it; edges have the types of values; parameters are folded into the operation that reads them.
Drawing draw(const Graph& graph, const DrawOptions& options);

/// Two graphs beside each other in one drawing, each with its own title and marks.
Drawing draw_beside(const Graph& left, const DrawOptions& left_options, const Graph& right,
                    const DrawOptions& right_options, const std::string& title);

/// Draws text in Graphviz's language. The format follows the file's extension: .svg, .png, .pdf or .dot (the text itself).
/// Throws `UserError` for another extension, or when Graphviz is not installed.
void write_dot(const std::string& dot, const fs::path& file);
/// The same of a graph's drawing.
inline void write_drawing(const Drawing& drawing, const fs::path& file) {
  write_dot(drawing.dot, file);
}

}  // namespace hone
