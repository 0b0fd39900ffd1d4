#pragma once

#include <span>
#include <string>

/// Libraries that are looked for when the program runs.
namespace hone::cuda {

/// A function of a library and where its address goes.
struct Symbol {
  const char* name;
  void* target;  ///< the address of a pointer to a function
};

/// Loads the first of `names` that is there, where the system looks and where CUDA's installers put libraries, and finds all
/// symbols in it. Returns "" or what is missing. A library that lacks a symbol is too old.
std::string load_library(std::span<const char* const> names, std::span<const Symbol> symbols);

}  // namespace hone::cuda
