#pragma once

#include <string>
#include <string_view>

/// From LLVM's text to functions that can be called: all that the project asks of LLVM. A program that was built without it has
/// these functions, too, and says so.
namespace hone::compiler {

/// Why no code can be generated here, with what to do about it; "" when it can.
std::string code_generation_missing();

/// Of the library that generates code: "19.1.7"; "" without one.
std::string llvm_version();

/// Floats in a vector of this processor as hone's kernels use it (hone/kernels/target.h): 16, 8, or 0 where there is no vector
/// instruction set that code is generated for.
int vector_lanes();

/// An object file (ELF) of the functions in `text`, for every processor whose vectors have so many floats. Nothing is optimized
/// but what the code generator does by itself.
std::string compile_object(std::string_view text, int lanes);

/// The address of `function` in an object file, which stays loaded as long as the process lives. No two that are loaded may
/// have the same functions.
void* load_object(std::string_view object, const std::string& function);

}  // namespace hone::compiler
