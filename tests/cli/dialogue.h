#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "hone/base/file.h"

namespace hone::testing {

/// A running `hone` process whose standard input and output are pipes.
class Dialogue {
 public:
  /// Starts `hone ARGUMENTS` in `folder`.
  Dialogue(const std::vector<std::string>& arguments, const fs::path& folder);
  /// Ends the program if it still runs.
  ~Dialogue();
  Dialogue(const Dialogue&) = delete;
  Dialogue& operator=(const Dialogue&) = delete;

  /// Writes to the program's standard input.
  void say(std::string_view text);
  /// Closes the program's standard input.
  void finish();
  /// Returns the next line of standard output without its newline, or "" at the end. Waits at most a minute.
  std::string answer();
  /// Closes the program's standard output.
  void hang_up();
  /// Sends SIGINT, as Ctrl-C does.
  void interrupt();
  /// Waits for the program to end. Returns the exit code, or 128 + n if signal n ended it.
  int wait();
  /// Returns the standard error output so far.
  std::string messages() const;

 private:
  fs::path messages_;
  pid_t process_ = 0;
  int input_ = -1, output_ = -1;
  std::string read_;
};

}  // namespace hone::testing
