#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "hone/base/error.h"
#include "hone/jobs/pipeline/stage_kind.h"

namespace hone {

/// One command of the program: a file of this folder and a row of `commands()`.
struct Command {
  std::string_view name;
  std::string_view summary;  ///< one line of `hone --help`
  std::string_view example;  ///< a command line that works, shown by its own help
  /// Declares the arguments on `app`; returns what runs once they are parsed.
  std::function<void()> (*declare)(CLI::App& app);
  StageKind stage = {};  ///< what pipelines must know of it
};

/// Commands of one kind, under one heading of `hone --help`.
struct CommandGroup {
  std::string_view name;
  std::vector<Command> commands;
};

/// All commands, in the order of the help: by groups, and one after the other.
const std::vector<CommandGroup>& command_groups();
const std::vector<Command>& commands();

/// Declares a command's arguments on `app`, with its help, example and defaults. Returns what runs once
/// they are parsed. The parser, the help, shell completion and the manual page all come from this.
std::function<void()> declare_command(const Command& command, CLI::App& app);

}  // namespace hone
