#pragma once

#include <chrono>
#include <vector>

/// Records the work of pool threads, for timelines.
///
///     ThreadTrace trace;                        // records during its lifetime
///     executable->run(inputs, parameters);
///     for (const WorkSpan& span : trace.lanes()[1]) …   // the first worker
namespace hone {

/// A time span in which a thread processed chunks of one job.
struct WorkSpan {
  std::chrono::steady_clock::time_point begin, end;
};

/// Records during its lifetime. Only one may exist at a time; create and destroy it while no pool works.
class ThreadTrace {
 public:
  ThreadTrace();
  ~ThreadTrace();
  ThreadTrace(const ThreadTrace&) = delete;
  ThreadTrace& operator=(const ThreadTrace&) = delete;

  /// Returns the spans per thread: the submitting threads first, then the workers. Call it only while no pool works.
  const std::vector<std::vector<WorkSpan>>& lanes() const { return lanes_; }

 private:
  friend class ThreadPool;
  std::vector<std::vector<WorkSpan>> lanes_;
};

}  // namespace hone
