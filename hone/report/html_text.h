#pragma once

#include <string>
#include <string_view>

namespace hone {

/// Escapes plain text (& < > " ') for an HTML element or a quoted attribute. Invalid UTF-8, and control characters
/// other than tabs and line ends, become U+FFFD.
std::string html_text(std::string_view text);

}  // namespace hone
