#pragma once

#include <string>
#include <string_view>

/// Compiles LLVM IR to callable functions: the project's only interface to LLVM. A program built without LLVM has
/// these functions, too, and reports that.
namespace hone::compiler {

/// Returns why no code can be generated here, and what to do about it; "" if it can.
std::string code_generation_missing();

/// Returns the version of LLVM: "19.1.7"; "" without it.
std::string llvm_version();

/// Returns the floats in a vector of this CPU as hone's kernels use it (hone/kernels/target.h): 16, 8, or 0 if code
/// cannot be generated for its instruction set.
int vector_lanes();

/// Returns an object file (ELF) of the functions in `text`, for every CPU with vectors of this many floats. It runs
/// no optimization passes, only the code generator.
std::string compile_object(std::string_view text, int lanes);

/// Returns the address of `function` in an object file, which stays loaded until the process ends. No two loaded
/// objects may define the same function.
void* load_object(std::string_view object, const std::string& function);

}  // namespace hone::compiler
