#pragma once

#include <CLI/CLI.hpp>
#include <string_view>
#include <vector>

/// Where the help lists an option, and whether `--help` shows it or only `--help-all`.
namespace hone {

/// The headings of a command's help, in their order.
const std::vector<std::string_view>& help_headings();

/// The heading that an option is listed under.
std::string_view help_heading(const CLI::Option& option);

/// Whether `--help` shows the option.
bool is_common(const CLI::Option& option);

}  // namespace hone
