#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

/// Progress of long work, shown on the standard error stream; results keep the standard output to
/// themselves.
///
///     Progress progress("train", steps, {.unit = "steps"});
///     for (...) progress.update(step, fmt::format("loss {:.3f}", loss));
///
///     train  38%  1,200/3,125 steps  0:42  1:07 left  28.4 steps/s  loss 0.412
///
/// On a terminal one line is rewritten, at most ten times a second, and where it is too narrow the speed goes first,
/// then counts and times; share and note stay, and as much of the title as there is room for. Elsewhere a line is added every ten seconds. The last state is
/// always written. One thread at a time may call.
namespace hone {

/// Where progress goes and what time it is; the defaults are the process's own, tests bring theirs.
struct ProgressOutput {
  bool quiet = false;     ///< write nothing at all
  bool terminal = false;  ///< rewrite one line
  int columns = 80;       ///< of the terminal
  std::function<void(std::string_view)> write = {};
  std::function<double()> now_seconds = {};  ///< any origin, never backwards

  /// What a line may take: the last column stays free, for some terminals wrap when it is filled. 0: no limit.
  int line_columns() const { return terminal ? columns - 1 : 0; }
};

/// The standard error stream, as a terminal if it is one, and the steady clock.
ProgressOutput progress_on_stderr(bool quiet = false);

/// What becomes of the line when the work is done.
enum class ProgressEnd {
  stays,
  vanishes,  ///< for work that something else tells the result of
};

struct ProgressOptions {
  std::string unit = {};   ///< of the counts, in the plural: "steps"; may be empty
  std::int64_t first = 0;  ///< already done when the work (re)starts; not part of the rate
  ProgressEnd end = ProgressEnd::stays;
  ProgressOutput output = progress_on_stderr();
};

class Progress {
 public:
  /// `total` counts all the work, `first` included; 0 if there is none to do, or nobody knows how much: what is done stands alone then.
  Progress(std::string title, std::int64_t total, ProgressOptions options = {});
  /// Finishes, also when an exception passes: the line shows how far the work came.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// `done` of the total are done; `note` stands at the end of the line until the next update, and behind it, where
  /// there is room, `detail`.
  void update(std::int64_t done, std::string_view note = {}, std::string_view detail = {});
  /// Writes lines of their own, above the one of the progress.
  void say(std::string_view lines);
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
  double shown_seconds_;     // when a line was last written, or the start
  std::int64_t shown_done_;  // what had been done then
  double rate_ = 0;          // per second, smoothed; 0 while unknown
  bool finished_ = false;
};

/// "0:07", "12:34", "3:05:00", "2 d 3:05:00".
std::string clock_text(double seconds);

}  // namespace hone
