#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/error.h"
#include "hone/base/options.h"
#include "hone/jobs/pipeline/stage_kind.h"

namespace hone {

/// The arguments and the function of a command. The arguments are a struct with a table of options. All null for a
/// command that only groups subcommands.
struct CommandRun {
  Options (*options)() = nullptr;
  std::shared_ptr<void> (*make)() = nullptr;  ///< arguments with their defaults
  void (*run)(void* arguments, const CLI::App& app) = nullptr;
};

/// One command of the program: a file of this folder and a row of `commands()`.
struct Command {
  std::string_view name;
  std::string_view summary;       ///< one line of `hone --help`
  std::string_view example;       ///< a command line that works, shown by its own help
  std::string_view details = {};  ///< sentences of its own help, below the summary
  CommandRun run = {};
  /// Throws `UsageError` for incompatible arguments, as soon as they are parsed.
  void (*check)(const void* arguments, const CLI::App& app) = nullptr;
  /// Returns text to append to the help, for arguments given along with --help; may be empty.
  std::string (*help_on)(const CLI::App& app) = nullptr;
  StageKind stage = {};  ///< how pipelines run it
  /// Commands with options of their own that the first argument selects: `hone bench linear` runs "bench linear".
  std::vector<Command> subcommands = {};

  /// Whether it needs the name of a subcommand, and does nothing itself.
  bool needs_subcommand() const { return run.run == nullptr; }
};

/// Returns the words that select the subcommands of a command: "linear".
std::vector<std::string> subcommand_names(const Command& command);

/// Returns a command with arguments of type `A` that `kRun` runs.
template <typename A, void (*kRun)(A&, const CLI::App&)>
CommandRun runs() {
  return {
      .options = [] { return options<A>(); },
      .make = []() -> std::shared_ptr<void> { return std::make_shared<A>(); },
      .run = [](void* arguments, const CLI::App& app) { kRun(*static_cast<A*>(arguments), app); }};
}
template <typename A, void (*kRun)(A&)>
CommandRun runs() {
  return {.options = [] { return options<A>(); },
          .make = []() -> std::shared_ptr<void> { return std::make_shared<A>(); },
          .run = [](void* arguments, const CLI::App&) { kRun(*static_cast<A*>(arguments)); }};
}

/// Commands of one kind, under one heading of `hone --help`.
struct CommandGroup {
  std::string_view name;
  std::vector<Command> commands;
};

/// All commands in the order of the help, by group and as one list.
const std::vector<CommandGroup>& command_groups();
const std::vector<Command>& commands();

/// The command or subcommand that the first `words` of a command line name; null: there is no such command.
struct CommandMatch {
  const Command* command = nullptr;
  std::size_t words = 0;
};
CommandMatch match_command(std::span<const std::string> words);

/// The parser of a command's arguments, built from its table of options. The help, shell completion and the manual page
/// use the same rows.
class CommandApp : public CLI::App {
 public:
  explicit CommandApp(const Command& command);

  /// Returns the row that an option was made from; null for the help flags.
  const OptionDef* row(const CLI::Option& option) const;
  /// Returns the kind of an option's value; the default kind for flags.
  const ValueKind& kind(const CLI::Option& option) const;
  /// Returns the words that shells offer for an option: all its values, or else the beginnings of its values.
  std::vector<std::string> completion_values(const CLI::Option& option) const;

  void run() const;

  const Command& command() const { return command_; }

 private:
  CLI::Option* declare(const OptionDef& row);

  const Command& command_;
  std::vector<OptionDef> rows_;
  std::shared_ptr<void> arguments_;
  std::map<const CLI::Option*, const OptionDef*> row_of_;
};

}  // namespace hone
