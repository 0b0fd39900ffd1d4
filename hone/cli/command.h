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

/// What a command takes and does: its arguments are a struct with a table of options. All null for a command that only groups subcommands.
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
  /// Throws `UsageError` for arguments that do not go together, as soon as they are read.
  void (*check)(const void* arguments, const CLI::App& app) = nullptr;
  /// Returns text to append to the help, for arguments given beside --help; may be empty.
  std::string (*help_on)(const CLI::App& app) = nullptr;
  StageKind stage = {};  ///< what pipelines must know of it
  /// Commands with options of their own that the first argument selects: `hone bench linear` runs "bench linear".
  std::vector<Command> subcommands = {};

  /// Whether it needs the name of a subcommand, and does nothing itself.
  bool needs_subcommand() const { return run.run == nullptr; }
};

/// The words that select the subcommands of a command: "linear".
std::vector<std::string> subcommand_names(const Command& command);

/// A command whose arguments are an `A` and which `kRun` runs.
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

/// All commands, in the order of the help: by groups, and one after the other.
const std::vector<CommandGroup>& command_groups();
const std::vector<Command>& commands();

/// The command, or subcommand, that the first `words` of a command line name; null: there is no such command.
struct CommandMatch {
  const Command* command = nullptr;
  std::size_t words = 0;
};
CommandMatch match_command(std::span<const std::string> words);

/// The parser of a command's arguments, made from its table of options. The help, shell completion and the manual page come from the same
/// rows.
class CommandApp : public CLI::App {
 public:
  explicit CommandApp(const Command& command);

  /// The row that an option was made from; null for those that ask for help.
  const OptionDef* row(const CLI::Option& option) const;
  /// What the option takes; that of nothing special for those that ask for help.
  const ValueKind& kind(const CLI::Option& option) const;
  /// The words that shells offer for an option: all that it takes, or else those that begin its values.
  std::vector<std::string> offered_words(const CLI::Option& option) const;

  /// Runs the command with what was parsed.
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
