#pragma once

#include <string>

namespace hone::kernels {

/// Returns the vector instructions of the kernels on this CPU, by Highway's name: "AVX2", "AVX3_ZEN4", "NEON". Chosen
/// at run time from the compiled targets.
std::string vector_target();

/// Chooses the vector instructions within `instruction_sets`, unless already chosen. Otherwise the first call of a
/// kernel chooses them. But a pointer to a kernel that is taken before then queries the CPU on every call, which takes
/// a fraction of a millisecond on a virtual machine.
void choose_vector_target();

/// Returns the version of the Highway library that the kernels were compiled with: "1.0.3".
std::string highway_version();

}  // namespace hone::kernels
