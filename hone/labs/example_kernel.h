#pragma once

#include <string_view>

#include "hone/runtime/library.h"

/// The plugin examples/cpu_gelu/cpu_gelu.cpp compiled into the program: lab 4.4 measures and shows this file.
namespace hone {

/// Adds the example's kernel, as its HONE_PLUGIN does.
void add_example_kernel(Library& library);

/// Returns the text of its file.
std::string_view example_kernel_source();

}  // namespace hone
