#pragma once

#include "hone/base/file.h"

/// Which folders are nobody's output.
namespace hone {

/// Whether `inner` is `outer` or lies in it, links resolved. `inner` may be missing; a missing `outer` holds nothing.
bool lies_in(const fs::path& inner, const fs::path& outer);

/// Throws `UserError` when `folder` is or holds the current directory, a home, the root of the file system or a mount
/// point: no output replaces those. One that does not exist holds nothing.
void check_unprotected(const fs::path& folder);

}  // namespace hone
