#pragma once

#include <string>
#include <string_view>

namespace hone {

/// Text for a terminal: control characters, which names from files may hold, as \x1b and the like; only line ends and
/// tabs stay.
std::string printable(std::string_view text);

}  // namespace hone
