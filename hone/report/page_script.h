#pragma once

#include <string>

namespace hone {

/// The script of `to_html`'s pages: sorts tables, and tells what is pointed at in figures.
std::string page_script();

}  // namespace hone
