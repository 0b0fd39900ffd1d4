#pragma once

#include "hone/base/file.h"

namespace hone {

/// Returns the folder `tests` of the checkout, which contains golden files and vectors.
fs::path test_data();

}  // namespace hone
