#pragma once

#include <string>

namespace hone {

/// Returns the script of `to_html`'s pages: it sorts tables, and describes the points of figures.
std::string page_script();

}  // namespace hone
