#pragma once

#include <string>

namespace hone::kernels {

/// The vector instructions the kernels run with on this processor, by Highway's name: "AVX2", "AVX3_ZEN4",
/// "NEON". Chosen when the program runs, from those it was compiled for.
std::string vector_target();

/// Chooses them, unless that is done, within what `instruction_sets` allows. Else the first kernel does; but a pointer to a kernel that is taken before asks the
/// processor at each of its calls, which on a virtual machine takes a fraction of a millisecond.
void choose_vector_target();

/// Of the Highway library that the kernels were compiled with: "1.0.3".
std::string highway_version();

}  // namespace hone::kernels
