#include "hone/base/thread_pool.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <numeric>
#include <set>
#include <stdexcept>

#include "tests/support/expect.h"

namespace hone {
namespace {

constexpr int kThreadCounts[] = {1, 2, 3, 8};

TEST(ThreadPool, RunsEveryChunkOnce) {
  for (const int threads : kThreadCounts) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.threads(), threads);
    for (const std::int64_t chunks : {0, 1, 2, 7, 1000}) {
      std::vector<std::atomic<int>> runs(static_cast<std::size_t>(chunks));
      pool.run(chunks, [&](std::int64_t chunk) { ++runs[static_cast<std::size_t>(chunk)]; });
      for (const auto& count : runs)
        EXPECT_EQ(count, 1) << threads << " threads, " << chunks << " chunks";
    }
  }
}

// Jobs of changing size follow each other at once, so workers come late to most of them. No worker may join a finished
// job, or use the size of one job for another.
TEST(ThreadPool, JobsInQuickSuccessionDoNotMix) {
  ThreadPool pool(4);
  std::vector<std::atomic<int>> runs(64);
  for (int job = 0; job < 20'000; ++job) {
    const std::int64_t chunks = 2 + job * 7 % 63;
    pool.run(chunks, [&](std::int64_t chunk) {
      runs[static_cast<std::size_t>(chunk)].fetch_add(1, std::memory_order_relaxed);
    });
    for (std::size_t i = 0; i < runs.size(); ++i) {
      ASSERT_EQ(runs[i].exchange(0), static_cast<std::int64_t>(i) < chunks ? 1 : 0)
          << "job " << job << ", chunk " << i;
    }
  }
}

TEST(ThreadPool, WakesWorkersThatSleep) {
  ThreadPool pool(2);
  for (int job = 0; job < 20; ++job) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));  // longer than an idle worker spins
    std::mutex mutex;
    std::set<std::thread::id> seen;
    std::atomic<int> arrived = 0;
    // Each chunk waits for the other, so the job ends only if both threads are awake.
    pool.run(2, [&](std::int64_t) {
      ++arrived;
      while (arrived < 2) std::this_thread::yield();
      std::lock_guard lock(mutex);
      seen.insert(std::this_thread::get_id());
    });
    EXPECT_EQ(seen.size(), 2u);
  }
}

TEST(ThreadPool, RethrowsTheErrorOfTheLowestChunk) {
  for (const int threads : kThreadCounts) {
    ThreadPool pool(threads);
    for (int repeat = 0; repeat < 50; ++repeat) {
      const auto body = [](std::int64_t chunk) {
        if (chunk % 10 == 3) fail("chunk {}", chunk);
      };
      EXPECT_EQ(user_error_of([&] { pool.run(100, body); }), "chunk 3");
    }
    std::atomic<int> runs = 0;
    pool.run(10, [&](std::int64_t) { ++runs; });
    EXPECT_EQ(runs, 10) << "after an error";
  }
}

TEST(ThreadPool, RunsNestedJobsInline) {
  ThreadPool pool(4);
  std::atomic<int> runs = 0;
  pool.run(8, [&](std::int64_t) {
    const std::thread::id outer = std::this_thread::get_id();
    pool.run(8, [&](std::int64_t) {
      EXPECT_EQ(std::this_thread::get_id(), outer);
      ++runs;
    });
  });
  EXPECT_EQ(runs, 64);
}

// The process has no memory for the stacks of so many threads.
TEST(ThreadPool, WorksWithTheThreadsThatTheSystemGives) {
  const auto run_with_few = [] {
    std::size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const auto used = pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    const rlimit limit{used + (std::size_t{64} << 20), RLIM_INFINITY};
    if (::setrlimit(RLIMIT_AS, &limit) != 0) std::exit(2);
    ThreadPool pool(1000);
    std::atomic<int> runs = 0;
    pool.run(100, [&](std::int64_t) { ++runs; });
    std::exit(runs == 100 && pool.threads() < 1000 ? 0 : 1);
  };
  EXPECT_EXIT(run_with_few(), ::testing::ExitedWithCode(0), "");
}

TEST(ThreadPool, RefusesImpossibleThreadCounts) {
  expect_user_error("`threads`: expected 1 to 1024, got 0", [] { ThreadPool pool(0); });
  expect_user_error("`threads`: expected 1 to 1024, got 1025", [] { ThreadPool pool(1025); });
}

TEST(ParallelRanges, CoverTheCountInGrains) {
  ThreadPool pool(3);
  for (const std::int64_t count : {1, 63, 64, 65, 1000}) {
    std::mutex mutex;
    std::map<std::int64_t, std::int64_t> ranges;
    parallel_ranges(pool, count, 64, [&](std::int64_t begin, std::int64_t end) {
      std::lock_guard lock(mutex);
      ranges[begin] = end;
    });
    std::int64_t at = 0;
    for (const auto& [begin, end] : ranges) {
      EXPECT_EQ(begin, at);
      EXPECT_EQ(end, std::min(begin + 64, count));
      at = end;
    }
    EXPECT_EQ(at, count);
  }
  parallel_ranges(pool, 0, 64, [](std::int64_t, std::int64_t) { FAIL(); });
}

// A different order of additions would change the last bits of this sum.
double parallel_sum(int threads) {
  ThreadPool pool(threads);
  const std::int64_t count = 100'000;
  std::vector<double> parts((count + 999) / 1000);
  parallel_ranges(pool, count, 1000, [&](std::int64_t begin, std::int64_t end) {
    double sum = 0;
    for (std::int64_t i = begin; i < end; ++i) sum += std::sin(static_cast<double>(i));
    parts[static_cast<std::size_t>(begin / 1000)] = sum;
  });
  return std::accumulate(parts.begin(), parts.end(), 0.0);
}

TEST(ParallelRanges, GiveTheSameBitsForAnyThreadCount) {
  const double expected = parallel_sum(1);
  for (const int threads : kThreadCounts) EXPECT_EQ(parallel_sum(threads), expected) << threads;
}

TEST(FunctionRef, CallsWhatItRefersTo) {
  int calls = 0;
  const auto count = [&](int by) { return calls += by; };
  const FunctionRef<int(int)> reference(count);
  const FunctionRef<int(int)> copy = reference;
  EXPECT_EQ(reference(2), 2);
  EXPECT_EQ(copy(3), 5);
}

}  // namespace
}  // namespace hone
