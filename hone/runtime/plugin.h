#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "hone/base/file.h"
#include "hone/ir/graph.h"
#include "hone/ops/rules.h"
#include "hone/runtime/library.h"
#include "hone/runtime/session.h"

/// User-defined formats, operations, kernels and passes in a shared library that the program loads with `--plugin
/// FILE`. A plugin's source needs only this header and its records:
///
///     HONE_PLUGIN(library) {
///       const hone::FormatDef def = apot_format();
///       library.formats.emplace(def.name, def);
///     }
///
/// A plugin is compiled against the headers of the program that loads it and links no part of it: its symbols resolve
/// to those of the program. See docs/developers/adding-a-format.md.
namespace hone {

/// Loads a plugin and adds its rows to the tables; its kernels precede the existing ones. The plugin stays loaded
/// until the process ends.
///
/// Throws `UserError` for a file that is missing, is no shared library or no plugin, or was built with other headers;
/// for a row whose name is taken; and for a record that lacks a function. The library is then unchanged.
void load_plugin(const fs::path& path, Library& library);

namespace detail {

/// Increment this when a record or a class changes its meaning but not its size: members that swap places, or use
/// what was padding.
inline constexpr std::uint64_t kPluginInterface = 8;

// Hashes the sizes of the types that a plugin and the program exchange or use inline. They distinguish headers,
// standard libraries and their debug modes.
template <typename... Types>
consteval std::uint64_t fingerprint() {
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a, over numbers in place of bytes
  for (const std::uint64_t number : {kPluginInterface, std::uint64_t{sizeof(Types)}...})
    hash = (hash ^ number) * 0x100000001b3;
  return hash;
}

/// Returns the text that program and plugin compare. It is `consteval` so that a plugin contains the text of its own
/// headers; for a function that exists at run time, the linker would use the program's for both.
consteval auto plugin_version() {
  constexpr std::string_view kName = "hone plugin ";
  constexpr int kDigits = 16;
  std::array<char, kName.size() + kDigits + 1> text{};
  std::ranges::copy(kName, text.begin());
  const std::uint64_t number =
      fingerprint<Library, FormatDef, FormatParameterDef, Format, FormatStateDef, QuantizerInput,
                  Codes, CodeLayout, CodeField, Observation, OpDef, TypeContext, Attributes, Type,
                  Kernel, CallSite, Call, PassDef, PassOptionDef, Session, ParameterStore,
                  GradientContext, Node, Graph, Value, Tensor, Storage, Device, ThreadPool,
                  Error>();
  for (int i = 0; i < kDigits; ++i)
    text[kName.size() + i] = "0123456789abcdef"[number >> (4 * i) & 15];
  return text;
}

}  // namespace detail
}  // namespace hone

/// Begins the plugin function that adds rows to `library`, which is an empty table, and stores the version text that
/// identifies the headers it was built with.
#define HONE_PLUGIN(library)                                                            \
  extern "C" __attribute__((visibility("default"))) const char* hone_plugin_version() { \
    static constexpr auto kVersion = ::hone::detail::plugin_version();                  \
    return kVersion.data();                                                             \
  }                                                                                     \
  extern "C" __attribute__((visibility("default"))) void hone_extend(                   \
      ::hone::Library& library)  // NOLINT(bugprone-macro-parentheses): a parameter's name
