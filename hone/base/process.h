#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hone/base/file.h"

namespace hone {

/// Runs another program to its end, without a shell, with `folder` as its working folder and nothing on its standard
/// input. Returns what it wrote to its standard output and error, together.
///
/// Throws `UserError` when it is not installed (naming the Debian `package` that has it), cannot be started, or ends in
/// failure (with what it wrote).
std::string run_program(const std::vector<std::string>& command, const fs::path& folder,
                        std::string_view package);

/// Returns the Python that people want to run: $HONE_PYTHON, or python3.
std::string python_program();

}  // namespace hone
