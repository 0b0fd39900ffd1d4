#pragma once

#include <string>
#include <vector>

#include "hone/base/file.h"
#include "hone/base/options.h"

namespace hone {

/// Returns the files and folders that an argument's value refers to: models also by their place in the hub's cache,
/// data with all their files, nothing for generated inputs. Throws `UserError` if they cannot be found.
std::vector<fs::path> paths_read(Access access, const std::string& value);

}  // namespace hone
