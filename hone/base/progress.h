#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

/// Shows progress of long work on standard error; standard output is reserved for results.
///
///     Progress progress("train", steps, {.unit = "steps"});
///     for (...) progress.update(step, fmt::format("loss {:.3f}", loss));
///
///     train  38%  1,200/3,125 steps  0:42  1:07 left  28.4 steps/s  loss 0.412
///
/// On a terminal, one line is rewritten at most ten times a second. If it is too narrow, first the details and the
/// speed are dropped, then counts and times; the share, the note and as much of the title as fits stay. Elsewhere, a
/// line is added every ten seconds. The last state is always written. Not thread-safe.
namespace hone {

/// Output and clock of progress; the defaults are those of the process, tests replace them.
struct ProgressOutput {
  bool quiet = false;     ///< write nothing
  bool terminal = false;  ///< rewrite one line
  int columns = 80;       ///< width of the terminal
  std::function<void(std::string_view)> write = {};
  std::function<double()> now_seconds = {};  ///< monotonic, with any origin

  /// Returns the maximum length of a line: the last column stays free, because some terminals wrap when it is filled.
  /// 0: no limit.
  int line_columns() const { return terminal ? columns - 1 : 0; }
};

/// Returns standard error, as a terminal if it is one, and the steady clock.
ProgressOutput progress_on_stderr(bool quiet = false);

/// What happens to the line when the work is done.
enum class ProgressEnd {
  stays,
  vanishes,  ///< for work whose result is reported otherwise
};

struct ProgressOptions {
  std::string unit = {};   ///< of the counts, plural: "steps"; may be empty
  std::int64_t first = 0;  ///< already done at the (re)start; not part of the rate
  ProgressEnd end = ProgressEnd::stays;
  ProgressOutput output = progress_on_stderr();
};

class Progress {
 public:
  /// `total` counts all the work including `first`; 0 if there is none or the amount is unknown, which shows only the
  /// work done.
  Progress(std::string title, std::int64_t total, ProgressOptions options = {});
  /// Finishes, also during an exception: the line shows how far the work came.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Sets the amount of work done. `note` is shown at the end of the line until the next update, followed by `detail`
  /// if there is room.
  void update(std::int64_t done, std::string_view note = {}, std::string_view detail = {});
  /// Writes separate lines above the progress line.
  void print_above(std::string_view lines);
  /// Writes the last state and ends the line. Later calls do nothing.
  void finish();

 private:
  void show(double now, bool last);
  std::string line(double now, bool last) const;

  std::string title_;
  std::int64_t total_;
  ProgressOptions options_;
  std::int64_t done_;
  std::string note_, detail_;
  double start_seconds_;
  double shown_seconds_;     // time of the last written line, or the start
  std::int64_t shown_done_;  // work done at that time
  double rate_ = 0;          // per second, smoothed; 0: unknown
  bool finished_ = false;
};

/// Returns "0:07", "12:34", "3:05:00" or "2 d 3:05:00".
std::string clock_text(double seconds);

}  // namespace hone
