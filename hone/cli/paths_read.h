#pragma once

#include <string>
#include <vector>

#include "hone/base/file.h"
#include "hone/base/options.h"

namespace hone {

/// The files and folders that a value stands for, of an argument that names what is read: models by their place in the
/// hub's cache too, data with every file they stand for; none for what is made on the spot. Throws `UserError` where it
/// cannot be found.
std::vector<fs::path> paths_read(Access access, const std::string& value);

}  // namespace hone
