#pragma once

#include <string>

#include "hone/analysis/draw.h"

namespace hone {

/// The graph as one self-contained HTML page, without network or other files: it pans, zooms, folds modules, searches names,
/// and tells the facts of the box that is clicked. It begins with as many modules open as one screen shows, or with
/// `options.depth` levels of them; `options.equal_layers` does not count, for layers are folded there as any module is.
std::string drawing_page(const Graph& graph, const DrawOptions& options);

}  // namespace hone
