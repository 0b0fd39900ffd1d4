#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace hone {

/// Lays out `hone COMMAND --help`: flags and the kind of their value at the left, at the right what
/// they mean, then "(required)" or their default. Lines are broken to fit `columns`, if not 0; in
/// narrow ones the meaning stands below its flags.
class HelpFormatter : public CLI::Formatter {
 public:
  explicit HelpFormatter(std::size_t columns = 0) : columns_(columns) { column_width(42); }
  std::string make_option(const CLI::Option* option, bool is_positional) const override;
  std::string make_option_name(const CLI::Option* option, bool is_positional) const override;
  std::string make_option_opts(const CLI::Option* option) const override;
  std::string make_option_desc(const CLI::Option* option) const override;

 private:
  std::size_t columns_;
};

/// `hone --help`: all commands with a line each. It fits a terminal of 80 columns and 24 lines; for
/// fewer `columns`, lines are broken. 0: they may have any length.
std::string overview(std::size_t columns);

}  // namespace hone
