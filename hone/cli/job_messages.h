#pragma once

#include <string_view>

namespace hone {

/// Prints a message of a running job, like `print_message`. Counts a warning instead if this process or an earlier
/// command of the same pipeline has printed it.
void print_remark(std::string_view text);

/// Prints the number of counted warnings, if any.
void print_counted_warnings();

}  // namespace hone
