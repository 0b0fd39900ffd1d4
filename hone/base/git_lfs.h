#pragma once

#include <string_view>

#include "hone/base/file.h"

namespace hone {

/// Throws `UserError` where `text`, what `path` begins with, is what git leaves in place of a large file that was not
/// fetched. `expected`: what should stand there, "weights".
void refuse_git_lfs_pointer(const fs::path& path, std::string_view text, std::string_view expected);

}  // namespace hone
