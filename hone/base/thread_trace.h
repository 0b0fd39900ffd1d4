#pragma once

#include <chrono>
#include <vector>

/// What the threads of pools did, for timelines.
///
///     ThreadTrace trace;                        // from here on, until it goes
///     executable->run(inputs, parameters);
///     for (const WorkSpan& span : trace.lanes()[1]) …   // the first worker
namespace hone {

/// A time in which a thread worked off chunks of one job, one after the other.
struct WorkSpan {
  std::chrono::steady_clock::time_point begin, end;
};

/// Records while it lives. One at a time, made and let go while no pool works.
class ThreadTrace {
 public:
  ThreadTrace();
  ~ThreadTrace();
  ThreadTrace(const ThreadTrace&) = delete;
  ThreadTrace& operator=(const ThreadTrace&) = delete;

  /// By thread, those that submit work first, then the workers. While no pool works.
  const std::vector<std::vector<WorkSpan>>& lanes() const { return lanes_; }

 private:
  friend class ThreadPool;
  std::vector<std::vector<WorkSpan>> lanes_;
};

}  // namespace hone
