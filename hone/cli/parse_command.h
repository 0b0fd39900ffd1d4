#pragma once

#include <optional>
#include <string>

#include "hone/cli/command.h"
#include "hone/cli/flags.h"

namespace hone {

/// A command with its parsed arguments, ready to run.
struct ParsedCommand {
  const Command* command = nullptr;
  std::unique_ptr<CommandApp> app = {};
  std::optional<CLI::AppFormatMode> help = {};  ///< of the requested help
  std::string problem =
      {};  ///< the error in the arguments, as a sentence; empty: none, and `app` may run
  OptionSpellings spellings = {};  ///< of the command's options
};

/// Parses the words after `hone`, at least one. Throws `UsageError` for an unknown command.
ParsedCommand parse_command(const std::vector<std::string>& words);

}  // namespace hone
