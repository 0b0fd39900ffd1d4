#pragma once

#include "hone/base/file.h"

/// Folders that must never be replaced by output.
namespace hone {

/// Returns whether `inner` is `outer` or inside it, with links resolved. `inner` may not exist; a missing `outer`
/// contains nothing.
bool is_inside(const fs::path& inner, const fs::path& outer);

/// Throws `UserError` if `folder` is or contains the current directory, a home directory, the root of the file system
/// or a mount point. A folder that does not exist contains nothing.
void check_unprotected(const fs::path& folder);

}  // namespace hone
