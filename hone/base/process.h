#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hone/base/file.h"

namespace hone {

/// Runs another program and waits for it, without a shell, in working folder `folder` with empty standard input.
/// Returns its standard output and error combined.
///
/// Throws `UserError` if it is not installed (naming the Debian `package` that contains it), cannot be started, or
/// fails (with its output).
std::string run_program(const std::vector<std::string>& command, const fs::path& folder,
                        std::string_view package);

/// Returns the Python to run: $HONE_PYTHON, or python3.
std::string python_program();

}  // namespace hone
