#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "hone/base/file.h"

namespace hone::testing {

/// The program with a pipe on either side, to be talked to while it runs.
class Dialogue {
 public:
  /// Starts `hone ARGUMENTS` in `folder`.
  Dialogue(const std::vector<std::string>& arguments, const fs::path& folder);
  /// Ends the program if it still runs.
  ~Dialogue();
  Dialogue(const Dialogue&) = delete;
  Dialogue& operator=(const Dialogue&) = delete;

  /// Writes to its standard input.
  void say(std::string_view text);
  /// Closes its standard input.
  void finish();
  /// The next line of its standard output, without its end; waits for a minute at most. "" at the end.
  std::string answer();
  /// Closes its standard output.
  void hang_up();
  /// Sends SIGINT, as Ctrl-C does.
  void interrupt();
  /// Waits for the end: the exit code; 128 + n when signal n ended it.
  int wait();
  /// What it wrote to the standard error stream so far.
  std::string messages() const;

 private:
  fs::path messages_;
  pid_t process_ = 0;
  int input_ = -1, output_ = -1;
  std::string read_;
};

}  // namespace hone::testing
