#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace hone {

/// Lays out `hone COMMAND --help`: flags and the kind of their value at the left, at the right what
/// they mean, then "(required)" or their default.
class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter() { column_width(42); }
  std::string make_option_name(const CLI::Option* option, bool is_positional) const override;
  std::string make_option_opts(const CLI::Option* option) const override;
  std::string make_option_desc(const CLI::Option* option) const override;
};

/// `hone --help`: all commands with a line each. It fits a terminal of 80 columns and 24 lines.
std::string overview();

}  // namespace hone
