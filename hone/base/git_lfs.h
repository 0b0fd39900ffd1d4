#pragma once

#include <string_view>

#include "hone/base/file.h"

namespace hone {

/// Throws `UserError` if `text`, the beginning of file `path`, is a Git LFS pointer. `expected`: the expected contents,
/// "weights".
void refuse_git_lfs_pointer(const fs::path& path, std::string_view text, std::string_view expected);

}  // namespace hone
