#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hone/base/file.h"

/// Runs this program as a child process, for jobs whose parts each need a separate process, memory, threads and exit.
namespace hone {

/// The result of a command.
struct CommandResult {
  int code = 0;        ///< exit code; 128 + n if signal n ended it
  std::string output;  ///< standard output
  std::string error;   ///< error message if it failed, see `report_failure`
  double seconds = 0;  ///< running time
  /// Peak resident memory of the command, or of one that it ran if that is larger.
  std::int64_t peak_bytes = 0;
  /// The highest prediction of its memory (`predict_memory`); 0: none.
  std::int64_t predicted_bytes = 0;
  std::vector<std::string> warnings = {};  ///< from `report_warning`, without duplicates, in order
};

/// Runs this program with `arguments` and waits for it, without a shell, in working folder `folder`, with empty
/// standard input and shared standard error. The child never outlives this process: it is killed with it. If this
/// process is asked to stop (hone/base/interrupt.h), it forwards the request once and waits. Must be called from a
/// thread that lives as long as the child. Throws `UserError` if it cannot be started.
CommandResult run_own_command(const std::vector<std::string>& arguments, const fs::path& folder);

/// Returns whether `run_own_command` started this process. Must be called before any other process is started.
bool is_own_command();

/// Reports the failure only to the parent process, if that used `run_own_command`. Returns false otherwise.
bool report_failure(const std::string& message);

/// Reports a warning to the parent process, if that used `run_own_command`, and marks it as shown.
void report_warning(const std::string& sentence);

/// Returns whether the warning was shown before this process started, by an ancestor or an earlier child of one.
bool was_shown_before(const std::string& warning);

/// Reports the peak memory to the parent process, if that used `run_own_command`. To be called at the end.
void report_peak_memory();

/// Reports to the parent process, if that used `run_own_command`, how much memory this process will use in total.
void predict_memory(double bytes);

}  // namespace hone
