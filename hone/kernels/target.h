#pragma once

#include <string>

namespace hone::kernels {

/// The vector instructions the kernels run with on this processor, by Highway's name: "AVX2", "AVX3_ZEN4",
/// "NEON". Chosen when the program runs, from those it was compiled for.
std::string vector_target();

/// Of the Highway library that the kernels were compiled with: "1.0.3".
std::string highway_version();

}  // namespace hone::kernels
