#pragma once

#include <string>

namespace hone {

/// Returns the style sheet of `to_html`'s pages.
std::string page_style();

}  // namespace hone
