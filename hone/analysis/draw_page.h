#pragma once

#include <string>

#include "hone/analysis/draw.h"

namespace hone {

/// Returns the graph as one self-contained HTML page that needs no network or other files. It pans, zooms, folds
/// modules, searches names and shows the properties of the selected box. Initially it opens as many modules as fit on a
/// screen, or `options.depth` levels. `options.equal_layers` is ignored, because layers fold like all modules.
std::string drawing_page(const Graph& graph, const DrawOptions& options);

}  // namespace hone
