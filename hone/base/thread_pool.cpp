#include "hone/base/thread_pool.h"

#include <immintrin.h>
#include <sched.h>

#include <chrono>
#include <system_error>
#include <utility>

#include "hone/base/error.h"
#include "hone/base/thread_trace.h"

namespace hone {
namespace {

thread_local bool inside_chunk = false;

// The submitting thread is lane 0; the workers of a pool follow.
constexpr std::size_t kMaxThreads = 1024;
thread_local std::size_t lane = 0;
std::atomic<ThreadTrace*> trace = nullptr;

constexpr std::uint64_t kChunkMask = 0xffffffffu;

std::uint64_t generation_of(std::uint64_t ticket) { return ticket >> 32; }

// Spins about 20 microseconds for `ready` before yielding the CPU, because jobs follow each other closely.
template <typename Ready>
bool spin_until(Ready&& ready) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::microseconds(20);
  do {
    for (int i = 0; i < 64; ++i) {
      if (ready()) return true;
      _mm_pause();
    }
  } while (std::chrono::steady_clock::now() < deadline);
  return ready();
}

}  // namespace

ThreadPool::ThreadPool(int threads) {
  user_check(threads >= 1 && threads <= static_cast<int>(kMaxThreads),
             "`threads`: expected 1 to {}, got {}", kMaxThreads, threads);
  workers_.reserve(static_cast<std::size_t>(threads));
  try {
    for (int i = 1; i < threads; ++i)
      workers_.emplace_back([this, i] {
        lane = static_cast<std::size_t>(i);
        work();
      });
  } catch (const std::system_error&) {
    // The system refuses more threads: continues with the existing ones, with the same bits.
  }
}

ThreadPool::~ThreadPool() {
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::run(std::int64_t chunks, FunctionRef<void(std::int64_t)> body) {
  HONE_ASSERT(chunks >= 0 && chunks < static_cast<std::int64_t>(kChunkMask), "{} chunks", chunks);
  if (chunks <= 1 || workers_.empty() || inside_chunk) {
    for (std::int64_t chunk = 0; chunk < chunks; ++chunk) body(chunk);
    return;
  }
  const std::uint64_t generation =
      (generation_of(ticket_.load(std::memory_order_relaxed)) + 1) & kChunkMask;
  body_ = &body;
  job_.store(generation << 32 | static_cast<std::uint64_t>(chunks), std::memory_order_relaxed);
  unfinished_.store(static_cast<std::uint64_t>(chunks), std::memory_order_relaxed);
  {
    std::lock_guard lock(
        mutex_);  // a worker about to sleep sees the new generation or the notification
    ticket_.store(generation << 32, std::memory_order_release);
  }
  wake_.notify_all();
  drain(generation, static_cast<std::uint64_t>(chunks));
  const auto done = [this] { return unfinished_.load(std::memory_order_acquire) == 0; };
  while (!spin_until(done)) std::this_thread::yield();
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

void ThreadPool::drain(std::uint64_t generation, std::uint64_t chunks) {
  std::uint64_t ticket = ticket_.load(std::memory_order_acquire);
  std::vector<WorkSpan>* spans = nullptr;
  bool began = false;
  while (generation_of(ticket) == generation && (ticket & kChunkMask) < chunks) {
    if (!ticket_.compare_exchange_weak(ticket, ticket + 1, std::memory_order_acq_rel)) continue;
    const std::uint64_t chunk = ticket & kChunkMask;
    // A trace outlives its job, which is not done while a chunk is claimed. So a late worker without a chunk must not
    // access it.
    if (!std::exchange(began, true)) {
      if (ThreadTrace* const recorded = trace.load(std::memory_order_relaxed)) {
        spans = &recorded->lanes_[lane];
        const auto now = std::chrono::steady_clock::now();
        spans->push_back({now, now});
      }
    }
    inside_chunk = true;
    try {
      (*body_)(static_cast<std::int64_t>(chunk));
    } catch (...) {
      std::lock_guard lock(mutex_);
      if (!error_ || chunk < error_chunk_) {
        error_ = std::current_exception();
        error_chunk_ = chunk;
      }
    }
    inside_chunk = false;
    if (spans != nullptr) spans->back().end = std::chrono::steady_clock::now();
    unfinished_.fetch_sub(1, std::memory_order_acq_rel);
    ticket = ticket_.load(std::memory_order_acquire);
  }
}

void ThreadPool::work() {
  std::uint64_t seen = 0;
  for (;;) {
    const auto changed = [&] {
      return generation_of(ticket_.load(std::memory_order_acquire)) != seen;
    };
    if (!spin_until(changed)) {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [&] { return stop_ || changed(); });
      if (stop_) return;
    }
    const std::uint64_t ticket = ticket_.load(std::memory_order_acquire);
    seen = generation_of(ticket);
    // The next job may have published its number of chunks but not its ticket yet; that count is not for this job.
    const std::uint64_t job = job_.load(std::memory_order_relaxed);
    if (generation_of(job) == seen) drain(seen, job & kChunkMask);
  }
}

ThreadTrace::ThreadTrace() : lanes_(kMaxThreads) {
  HONE_ASSERT(trace.exchange(this) == nullptr, "two traces of threads at once");
}

ThreadTrace::~ThreadTrace() { trace = nullptr; }

int available_processors() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return 1;
  return CPU_COUNT(&set);
}

}  // namespace hone
