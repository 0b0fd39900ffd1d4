#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "hone/cli/command.h"

namespace hone {

/// Lays out `hone COMMAND --help` (the options most people use) and `--help-all` (every option), in groups with one
/// heading each. The names of an option and its value are at the left, its meaning and default at the right. Lines fit
/// `columns`.
class HelpFormatter : public CLI::Formatter {
 public:
  explicit HelpFormatter(std::size_t columns = 80) : columns_(columns) {}
  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override;
  std::string make_option_name(const CLI::Option* option, bool is_positional) const override;
  std::string make_option_opts(const CLI::Option* option) const override;
  std::string make_option_desc(const CLI::Option* option) const override;

 private:
  std::string usage(const CommandApp& app) const;
  std::string positionals(const CLI::App& app) const;
  std::string groups(const CommandApp& app, bool all) const;
  std::string subcommands(const Command& command) const;
  std::string row(const std::string& names, const std::string& meaning) const;
  std::size_t columns_;
};

/// What usage calls the argument that selects a subcommand.
inline constexpr const char* kSubcommand = "SUBCOMMAND";

/// Whether help lists an option under a heading.
bool stands_under(const OptionDef& row, const EnumWord& heading);

/// Columns that help printed to the standard output fits: those of the terminal, between 40 and 100; 80 for a pipe.
std::size_t help_columns();

/// `hone --help`: every command with one line, in groups, fitted to `columns`.
std::string overview(std::size_t columns);

}  // namespace hone
