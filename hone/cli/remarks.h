#pragma once

#include <string_view>

namespace hone {

/// Prints what a job says while it runs, as `print_message`. A warning that people were shown before, by this process or by an
/// earlier command of the same pipeline, is counted in its place.
void print_remark(std::string_view text);

/// Prints how many warnings were counted, if any were.
void print_counted_warnings();

}  // namespace hone
