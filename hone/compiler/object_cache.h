#pragma once

#include <optional>
#include <string>
#include <string_view>

/// Objects that were compiled once, kept for every process that needs them again:
///
///     $XDG_CACHE_HOME/hone/code/KEY.o, or ~/.cache/hone/code/KEY.o
///
/// in front of each its fingerprint, so what is damaged counts as not there. A cache that cannot be read or written costs time
/// alone.
namespace hone::compiler {

/// The object kept under `key`; nothing where there is none, or a damaged one.
std::optional<std::string> kept_object(const std::string& key);

/// Keeps an object. Where all that are kept would take more than `kMostBytes`, those go that were written longest ago.
void keep_object(const std::string& key, std::string_view object);

inline constexpr std::size_t kMostBytes = std::size_t{64} << 20;

}  // namespace hone::compiler
