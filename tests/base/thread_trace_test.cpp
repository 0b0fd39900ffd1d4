#include "hone/base/thread_trace.h"

#include <gtest/gtest.h>

#include "hone/base/thread_pool.h"

namespace hone {
namespace {

TEST(ThreadTrace, RecordsWhenThreadsWorkedWhileItLives) {
  ThreadPool pool(3);
  const auto job = [&] {
    std::atomic<int> waiting = 3;
    pool.run(3, [&](std::int64_t) {
      --waiting;
      while (waiting > 0) std::this_thread::yield();  // makes each thread take one chunk
    });
  };
  job();
  const auto before = std::chrono::steady_clock::now();
  {
    const ThreadTrace trace;
    job();
    job();
    for (std::size_t lane = 0; lane < 3; ++lane) {
      ASSERT_EQ(trace.lanes()[lane].size(), 2u) << lane;
      for (const WorkSpan& span : trace.lanes()[lane]) {
        EXPECT_LE(before, span.begin);
        EXPECT_LE(span.begin, span.end);
      }
      EXPECT_LE(trace.lanes()[lane][0].end, trace.lanes()[lane][1].begin);
    }
    EXPECT_TRUE(trace.lanes()[3].empty());
  }
  job();  // not recorded
  const ThreadTrace another;
  EXPECT_TRUE(another.lanes()[0].empty());
}

}  // namespace
}  // namespace hone
