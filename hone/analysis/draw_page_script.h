#pragma once

#include <string_view>

namespace hone {

/// The script and the style sheet of the drawing page.
std::string_view draw_page_script();
std::string_view draw_page_style();

}  // namespace hone
