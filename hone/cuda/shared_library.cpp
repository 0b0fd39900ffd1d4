#include "hone/cuda/shared_library.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace hone::cuda {
namespace {

// "" comes first: the search path of the system's loader.
constexpr const char* kFolders[] = {"", "/usr/local/cuda/lib64/", "/usr/lib/cuda/lib64/",
                                    "/opt/cuda/lib64/"};

void* open_first(std::span<const char* const> names) {
  for (const char* folder : kFolders)
    for (const char* name : names)
      if (void* library = ::dlopen((std::string(folder) + name).c_str(), RTLD_NOW | RTLD_LOCAL))
        return library;
  return nullptr;
}

}  // namespace

std::string load_library(std::span<const char* const> names, std::span<const Symbol> symbols) {
  void* const library = open_first(names);
  if (library == nullptr) return fmt::format("{} is not installed", fmt::join(names, " or "));
  for (const Symbol& symbol : symbols) {
    void* const address = ::dlsym(library, symbol.name);
    if (address == nullptr)
      return fmt::format("{} is too old: it has no {}", names[0], symbol.name);
    *static_cast<void**>(symbol.target) = address;
  }
  return "";
}

}  // namespace hone::cuda
