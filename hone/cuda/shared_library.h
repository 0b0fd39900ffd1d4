#pragma once

#include <span>
#include <string>

/// Shared libraries loaded at run time.
namespace hone::cuda {

/// A function of a library and where to store its address.
struct Symbol {
  const char* name;
  void* target;  ///< the address of a pointer to a function
};

/// Loads the first of `names` found in the system's search path or in the folders of CUDA's installers, and finds all
/// symbols in it. Returns "", or what is missing. A library that lacks a symbol is too old.
std::string load_library(std::span<const char* const> names, std::span<const Symbol> symbols);

}  // namespace hone::cuda
