#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

namespace hone {

/// One command of the program: a file of this folder and a row of `commands()`.
struct Command {
  std::string_view name;
  std::string_view summary;  ///< one line of `hone --help`
  std::string_view example;  ///< a command line that works, shown by its own help
  /// Declares the arguments on `app`; returns what runs once they are parsed.
  std::function<void()> (*declare)(CLI::App& app);
};

/// All commands, in the order of the help.
const std::vector<Command>& commands();

}  // namespace hone
