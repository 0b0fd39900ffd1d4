#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>

#include "hone/cli/flags.h"

namespace hone {

/// Returns a shell command that repeats `app` with other values. An argument that `instead` names (by `argument_name`)
/// gets the value in it, and is left out if that is empty. Options are spelled as in `spellings`, or else as declared.
std::string command_line(const CLI::App& app, const std::map<std::string, std::string>& instead,
                         const OptionSpellings& spellings);

}  // namespace hone
