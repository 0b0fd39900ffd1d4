#pragma once

#include <string>
#include <string_view>

namespace hone {

/// Plain text as it stands in HTML, in an element or in a quoted attribute: & < > " ' escaped.
/// What is not UTF-8, and control characters other than tabs and line ends, become U+FFFD.
std::string html_text(std::string_view text);

}  // namespace hone
