#pragma once

#include "hone/base/file.h"

namespace hone {

/// Where the program keeps what it could make again: hone in $XDG_CACHE_HOME, where that is an absolute path, else in
/// ~/.cache (XDG Base Directory Specification). Empty: there is no home.
fs::path cache_folder();

}  // namespace hone
