#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>

#include "hone/cli/flags.h"

namespace hone {

/// A line for a shell that asks for the same again with other values: an argument that `instead` names (by
/// `argument_name`) has the one that stands there, and is left out where that is empty. Options are spelled as `spellings`
/// has them, or else as they are declared.
std::string command_line(const CLI::App& app, const std::map<std::string, std::string>& instead,
                         const OptionSpellings& spellings);

}  // namespace hone
