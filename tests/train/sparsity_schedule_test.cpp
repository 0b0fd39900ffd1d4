#include "hone/train/sparsity_schedule.h"

#include <gtest/gtest.h>

#include "tests/support/message.h"

namespace hone::testing {
namespace {

// Zhu and Gupta, equation 1, computed by hand.
TEST(SparsitySchedule, RisesAsACubeAndStays) {
  const SparsitySchedule schedule = cubic_schedule(0.5, 8);
  EXPECT_EQ(schedule.end, 4);
  EXPECT_EQ(schedule.at(0), 0.0);
  EXPECT_DOUBLE_EQ(schedule.at(1).value(), 1 - 27.0 / 64);
  EXPECT_DOUBLE_EQ(schedule.at(2).value(), 1 - 1.0 / 8);
  EXPECT_DOUBLE_EQ(schedule.at(3).value(), 1 - 1.0 / 64);
  EXPECT_EQ(schedule.at(4), 1.0);
  EXPECT_FALSE(schedule.at(5));
}

TEST(SparsitySchedule, BeginsAfterTheWarmUp) {
  const SparsitySchedule schedule = cubic_schedule(0.6, 10, 2);
  EXPECT_FALSE(schedule.at(1));
  EXPECT_EQ(schedule.at(2), 0.0);
  EXPECT_DOUBLE_EQ(schedule.at(3).value(), 1 - 27.0 / 64);
  EXPECT_DOUBLE_EQ(schedule.at(5).value(), 1 - 1.0 / 64);
  EXPECT_EQ(schedule.at(6), 1.0);
  EXPECT_FALSE(schedule.at(7));
  const SparsitySchedule sparse_steps = cubic_schedule(1, 202, 101);
  EXPECT_EQ(sparse_steps.between_steps, 2);
  EXPECT_TRUE(sparse_steps.at(103));
  EXPECT_FALSE(sparse_steps.at(104));
  EXPECT_NE(message_of([] { cubic_schedule(0.5, 10, 5); }).find("warm-up of 5 steps"),
            std::string::npos);
}

TEST(SparsitySchedule, PrunesAtFiftyStepsAtMost) {
  const SparsitySchedule schedule = cubic_schedule(1, 1001);
  int prunings = 0;
  for (std::int64_t step = 0; step <= 1001; ++step) prunings += schedule.at(step).has_value();
  EXPECT_EQ(prunings, 51);  // the first prunes nothing
  EXPECT_EQ(schedule.at(1000), 1.0);
}

TEST(SparsitySchedule, LeavesAStepToTrainWhatWasPrunedLast) {
  EXPECT_EQ(cubic_schedule(1, 2).end, 1);
  EXPECT_EQ(message_of([] { cubic_schedule(0.5, 1); }),
            "`schedule` cubic raises sparsity during training, which needs at least two "
            "steps, got one step; give more steps, or prune in one shot");
  EXPECT_EQ(message_of([] { cubic_schedule(0, 10); }),
            "`ramp`: expected a share of the training above 0 and up to 1, got 0");
}

}  // namespace
}  // namespace hone::testing
