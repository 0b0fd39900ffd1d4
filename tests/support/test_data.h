#pragma once

#include "hone/base/file.h"

namespace hone {

/// The folder `tests` of the checkout, where golden files and vectors lie.
fs::path test_data();

}  // namespace hone
