#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "hone/cli/command.h"

namespace hone {

/// Lays out `hone COMMAND --help` (the common options) and `--help-all` (all options) in groups with headings: names
/// and values of options on the left, meanings and defaults on the right. Lines fit `columns`.
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

/// The placeholder of a subcommand in usage lines.
inline constexpr const char* kSubcommand = "SUBCOMMAND";

/// Returns whether help lists an option under a heading.
bool is_listed_under(const OptionDef& row, const EnumName& heading);

/// Returns the width of help on the standard output: that of the terminal, between 40 and 100; 80 for a pipe.
std::size_t help_columns();

/// Returns the text of `hone --help`: one line per command, in groups, fitted to `columns`.
std::string overview(std::size_t columns);

}  // namespace hone
