#include "hone/base/periodic.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>

namespace hone {
namespace {

TEST(Periodic, CallsAtOnceAndAgainWhateverIsThrown) {
  std::atomic<int> calls = 0;
  {
    const Periodic periodic(0.001, [&] {
      const int call = ++calls;
      calls.notify_all();
      if (call == 1) throw std::runtime_error("trouble");
    });
    for (int seen = calls; seen < 3; seen = calls) calls.wait(seen);
  }
  const int at_the_end = calls;
  EXPECT_GE(at_the_end, 3);
  EXPECT_EQ(calls, at_the_end);
}

TEST(Periodic, EndsWithoutWaitingForTheNextCall) {
  std::atomic<int> calls = 0;
  {
    const Periodic periodic(3600, [&] {
      ++calls;
      calls.notify_all();
    });
    calls.wait(0);
  }
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace hone
