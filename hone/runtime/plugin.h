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

/// Formats, operations, kernels and passes of a user's own, in a shared library that the program loads with
/// `--plugin FILE`. All that a plugin's source needs is this header and its records:
///
///     HONE_PLUGIN(library) {
///       const hone::FormatDef def = apot_format();
///       library.formats.emplace(def.name, def);
///     }
///
/// A plugin is compiled against the headers of the program that loads it and links nothing of it:
/// what it calls it finds in the program. See docs/developers/adding-a-format.md.
namespace hone {

/// Loads a plugin and adds its rows to the tables; its kernels go before those that are there. The
/// plugin stays loaded for the life of the process.
///
/// Throws `UserError` for a file that is missing, is no shared library or no plugin, or was built
/// with other headers; for a row whose name is taken, since nothing may silently mean something
/// else; and for a record that lacks a function. The library is then as it was.
void load_plugin(const fs::path& path, Library& library);

namespace detail {

/// To be raised when a record or a class keeps its size and still means something else: members
/// that change places, or hide in what was padding.
inline constexpr std::uint64_t kPluginInterface = 8;

// What a plugin and its program hand to each other or call inline. Their sizes tell headers, and
// standard libraries and their debug modes, apart.
template <typename... Types>
consteval std::uint64_t fingerprint() {
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a, over numbers in place of bytes
  for (const std::uint64_t number : {kPluginInterface, std::uint64_t{sizeof(Types)}...})
    hash = (hash ^ number) * 0x100000001b3;
  return hash;
}

/// The text that program and plugin compare. `consteval`, so that a plugin holds the text of its
/// own headers: of functions that exist at run time the linker would take the program's for both.
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

/// Begins the function of a plugin that adds its rows to `library`, which is an empty table, and
/// leaves the mark by which the program knows which headers the plugin was built with.
#define HONE_PLUGIN(library)                                                            \
  extern "C" __attribute__((visibility("default"))) const char* hone_plugin_version() { \
    static constexpr auto kVersion = ::hone::detail::plugin_version();                  \
    return kVersion.data();                                                             \
  }                                                                                     \
  extern "C" __attribute__((visibility("default"))) void hone_extend(                   \
      ::hone::Library& library)  // NOLINT(bugprone-macro-parentheses): a parameter's name
