#pragma once

#include <string_view>

#include "hone/runtime/library.h"

/// The plugin examples/cpu_gelu/cpu_gelu.cpp as a part of the program: lab 4.4 measures and shows the same file.
namespace hone {

/// Adds the kernel of the example, as its HONE_PLUGIN does.
void add_example_kernel(Library& library);

/// Returns the text of its file.
std::string_view example_kernel_source();

}  // namespace hone
