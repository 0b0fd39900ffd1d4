#pragma once

#include <string_view>

#include "hone/base/file.h"

namespace hone {

/// Runs gnuplot on `script` (a file name) with `folder` as its working folder, without a shell and
/// without the user's own gnuplot settings. Throws `UserError`: gnuplot is not installed, or it
/// refused the script, in its own words.
void run_gnuplot(const fs::path& folder, std::string_view script);

}  // namespace hone
