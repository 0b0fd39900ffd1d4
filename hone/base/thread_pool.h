#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

/// A pool of threads that process numbered chunks.
///
/// The partition of a job into chunks depends only on the job, never on the number of threads, and every chunk writes
/// its own part of the result. So a result has the same bits for any thread count:
///
///     parallel_ranges(pool, rows, 64, [&](int64_t begin, int64_t end) { … });   // begin is a multiple of 64
///
/// Sums over chunks use a buffer with one slot per chunk that is added up in order.
namespace hone {

/// Non-owning reference to a callable; valid while the callable lives.
template <typename Signature>
class FunctionRef;
template <typename Result, typename... Args>
class FunctionRef<Result(Args...)> {
 public:
  template <typename F>
  requires(!std::is_same_v<std::remove_cvref_t<F>, FunctionRef>) FunctionRef(F&& f)
      : object_(const_cast<void*>(static_cast<const void*>(&f))),
        call_([](void* object, Args... args) -> Result {
          return (*static_cast<std::remove_reference_t<F>*>(object))(std::forward<Args>(args)...);
        }) {}
  Result operator()(Args... args) const { return call_(object_, std::forward<Args>(args)...); }

 private:
  void* object_;
  Result (*call_)(void*, Args...);
};

class ThreadPool {
 public:
  /// `threads` includes the caller; 1 runs everything inline. Uses fewer if the system refuses to start more. Throws
  /// `UserError` below 1 or above 1024.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return static_cast<int>(workers_.size()) + 1; }

  /// Calls `body(chunk)` once for every chunk in [0, chunks), also on the calling thread, and returns when all are
  /// done. If chunks throw, rethrows the exception of the lowest one. A call from inside a chunk runs inline. Only one
  /// thread may submit work at a time.
  void run(std::int64_t chunks, FunctionRef<void(std::int64_t)> body);

 private:
  void work();
  void drain(std::uint64_t generation, std::uint64_t chunks);

  std::vector<std::thread> workers_;
  // generation << 32 | next chunk. The generation in the ticket prevents a late worker from claiming a chunk of a newer
  // job.
  std::atomic<std::uint64_t> ticket_{0};
  std::atomic<std::uint64_t> job_{0};  // generation << 32 | chunks of the newest job
  std::atomic<std::uint64_t> unfinished_{0};
  const FunctionRef<void(std::int64_t)>* body_ = nullptr;  // published by the store to ticket_

  std::mutex mutex_;  // guards the members below, and sleeping
  std::condition_variable wake_;
  bool stop_ = false;
  std::exception_ptr error_;
  std::uint64_t error_chunk_ = 0;
};

/// Returns the number of CPUs that this process may run on.
int available_processors();

/// Splits [0, count) into ranges of `grain` (the last may be shorter) and calls `body(begin, end)`
/// for each.
template <typename Body>
void parallel_ranges(ThreadPool& pool, std::int64_t count, std::int64_t grain, Body&& body) {
  if (count <= 0) return;
  const std::int64_t chunks = (count + grain - 1) / grain;
  pool.run(chunks, [&](std::int64_t chunk) {
    const std::int64_t begin = chunk * grain;
    body(begin, begin + grain < count ? begin + grain : count);
  });
}

}  // namespace hone
