#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hone/base/file.h"

/// This program, started by itself: for work of which each piece is a command with memory, threads and an end of its own.
namespace hone {

/// How a command ended.
struct CommandEnding {
  int code = 0;        ///< exit code; 128 + n when signal n ended it
  std::string output;  ///< standard output
  std::string error;   ///< what it would have told people when it failed, see `tell_failure`
  double seconds = 0;  ///< it ran
  /// Most memory that was resident at a time, its own or that of a command that it ran.
  std::int64_t peak_bytes = 0;
  /// The most that the command predicted to hold, before it did (`predict_memory`); 0: it predicted nothing.
  std::int64_t predicted_bytes = 0;
  std::vector<std::string> warnings =
      {};  ///< that it told people (`tell_warning`), each once, in their order
};

/// Runs this program with `arguments` to its end, without a shell, with `folder` as its working folder, nothing on its
/// standard input, and our standard error stream as its own. It never outlives us: when we are killed, so is it.
/// When we are asked to stop (hone/base/interrupt.h) it is asked, once, and its end is waited for. To be called from a thread that
/// lives as long. Throws `UserError` when it cannot be started.
CommandEnding run_own_command(const std::vector<std::string>& arguments, const fs::path& folder);

/// Whether this process was started by `run_own_command`. Asked first of all, before any other process is started.
bool is_own_command();

/// Tells whoever started this process by `run_own_command` why it failed, and nobody else. False: nobody did.
bool tell_failure(const std::string& message);

/// Tells whoever started this process by `run_own_command` of what people are warned of, beside the results.
void tell_warning(const std::string& sentence);

/// Whether people were warned of it before this process began: by one that started it, or by one that those ran before.
bool was_shown_before(const std::string& warning);

/// Tells whoever started this process by `run_own_command` the most memory that it has held. To be called at its end.
void tell_peak_memory();

/// Tells whoever started this process by `run_own_command` that it is going to hold so much memory, with what it holds now.
void predict_memory(double bytes);

}  // namespace hone
