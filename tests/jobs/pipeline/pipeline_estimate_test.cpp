#include "hone/jobs/pipeline/pipeline_estimate.h"

#include <gtest/gtest.h>

#include "hone/jobs/pipeline/pipeline_report.h"

namespace hone {
namespace {

/// Two training stages in the group "a" and an evaluation.
Pipeline three_stages() {
  return {.where = "chain.toml",
          .text = "",
          .stages = {{.name = "a/1", .group = "a", .command = {"train"}},
                     {.name = "a/2", .group = "a", .command = {"train"}},
                     {.name = "b", .group = "b", .command = {"eval"}}}};
}

StageCost hundred_seconds(const PipelineStage&) {
  return {.seconds = 100, .memory_bytes = 1 << 20, .disk_bytes = 1 << 20};
}

TEST(PipelineEstimate, AddsTimeAndDiskOfTheStagesThatAreLeft) {
  const std::string text = pipeline_cost_text(three_stages(), {false, true, true}, hundred_seconds);
  EXPECT_TRUE(text.starts_with("; about 3:20, up to 1 MiB of memory")) << text;
  EXPECT_TRUE(text.ends_with("2 MiB of disk")) << text;
  EXPECT_EQ(pipeline_cost_text(three_stages(), {true, true, true}, nullptr), "");
}

TEST(PipelineEstimate, TakesTheTimeOfTheGroupAndScalesEstimatesByIt) {
  const std::vector<StageOutcome> first = {{.seconds = 50}};
  const std::vector<bool> left = {true, true, true};
  // 50 s for the second stage, like the first, and 50 s for the third, whose estimate is halved.
  EXPECT_EQ(pipeline_time_left_text(three_stages(), 1, first, left, hundred_seconds),
            "; about 1:40 left");
  EXPECT_EQ(pipeline_time_left_text(three_stages(), 1, first, left, nullptr),
            "; more than 0:50 left");
  EXPECT_EQ(pipeline_time_left_text(three_stages(), 0, {}, left, hundred_seconds),
            "; about 5:00 left");
}

TEST(PipelineEstimate, IsEmptyWhereNoTimeIsKnown) {
  EXPECT_EQ(pipeline_time_left_text(three_stages(), 0, {}, {true, true, true}, nullptr), "");
}

}  // namespace
}  // namespace hone
