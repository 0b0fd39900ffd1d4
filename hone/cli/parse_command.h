#pragma once

#include <optional>
#include <string>

#include "hone/cli/command.h"
#include "hone/cli/flags.h"

namespace hone {

/// A command with its arguments, understood and not yet run.
struct ParsedCommand {
  const Command* command = nullptr;
  std::unique_ptr<CommandApp> app = {};
  std::optional<CLI::AppFormatMode> help = {};  ///< of the help that was asked for
  std::string problem =
      {};  ///< what is wrong with the arguments, a sentence; empty: nothing, and `app` may run
  OptionSpellings spellings = {};  ///< of the command's options
};

/// Understands the words behind `hone`, of which there is one at least. Throws `UsageError` for a command that is not there.
ParsedCommand parse_command(const std::vector<std::string>& words);

}  // namespace hone
