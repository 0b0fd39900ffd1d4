#pragma once

#include "hone/base/file.h"

namespace hone {

/// Returns the cache folder: hone in $XDG_CACHE_HOME if that is an absolute path, else in ~/.cache (XDG Base Directory
/// Specification). Returns "" without a home.
fs::path cache_folder();

}  // namespace hone
