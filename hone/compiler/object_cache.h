#pragma once

#include <optional>
#include <string>
#include <string_view>

/// A cache of compiled objects, shared by all processes:
///
///     $XDG_CACHE_HOME/hone/code/KEY.o, or ~/.cache/hone/code/KEY.o
///
/// Each file starts with a fingerprint of the object, so that damaged files count as missing. If the cache cannot be
/// read or written, only time is lost.
namespace hone::compiler {

/// Returns the object stored under `key`; nothing if it is missing or damaged.
std::optional<std::string> cached_object(const std::string& key);

/// Stores an object. If all objects would exceed `kMaxBytes`, the oldest ones are removed.
void cache_object(const std::string& key, std::string_view object);

inline constexpr std::size_t kMaxBytes = std::size_t{64} << 20;

}  // namespace hone::compiler
