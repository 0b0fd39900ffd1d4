#include "hone/train/optimizer.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

TEST(LinearSchedule, FallsFromTheFullRateToOneStepAboveZero) {
  EXPECT_EQ(linear_schedule(1.0, 0, 4, 0), 1.0);
  EXPECT_EQ(linear_schedule(1.0, 1, 4, 0), 0.75);
  EXPECT_EQ(linear_schedule(1.0, 3, 4, 0), 0.25);
  EXPECT_EQ(linear_schedule(1.0, 4, 4, 0), 0.0);
}

TEST(LinearSchedule, RisesFromZeroDuringWarmUp) {
  EXPECT_EQ(linear_schedule(2.0, 0, 10, 4), 0.0);
  EXPECT_EQ(linear_schedule(2.0, 1, 10, 4), 0.5);
  EXPECT_EQ(linear_schedule(2.0, 3, 10, 4), 1.5);
  EXPECT_EQ(linear_schedule(2.0, 4, 10, 4), 2.0);
  EXPECT_EQ(linear_schedule(2.0, 7, 10, 4), 1.0);
}

TEST(LinearSchedule, NeverReachesTheFullRateWhenWarmUpOutlastsTheRun) {
  EXPECT_EQ(linear_schedule(1.0, 1, 2, 8), 0.125);
  EXPECT_EQ(linear_schedule(1.0, 2, 2, 2), 0.0);
}

TEST(AdamWOptions, DefaultsAreThoseOfHuggingFace) {
  const AdamWOptions options;
  EXPECT_EQ(options.learning_rate, 5e-5);
  EXPECT_EQ(options.beta1, 0.9);
  EXPECT_EQ(options.beta2, 0.999);
  EXPECT_EQ(options.epsilon, 1e-8);
  EXPECT_EQ(options.weight_decay, 0);
  EXPECT_EQ(options.max_grad_norm, 1.0);
}

}  // namespace
}  // namespace hone
