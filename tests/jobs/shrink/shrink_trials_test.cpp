#include "hone/jobs/shrink/shrink_trials.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

// The printed interval is not corrected, so with several evaluations another test decides.
TEST(ShrinkCandidate, SaysWhatDecidesWhereItsIntervalDoesNot) {
  const std::vector<Gate> gates = {
      {.metric = kAccuracy, .base_metric = "accuracy", .margin = 0.02, .text = "accuracy>=-2"}};
  CandidateMeasurement measured{
      .change = -0.004, .change_interval = {-0.015, 0.007}, .missed = {"accuracy>=-2"}};
  const auto is_corrected = [&](std::int64_t max_evaluations) {
    return candidate_change(measured, kAccuracy, gates, max_evaluations).find(" correction for ") !=
           std::string::npos;
  };
  EXPECT_TRUE(is_corrected(10));
  EXPECT_FALSE(is_corrected(1));
  measured.change_interval = {-0.025, 0.007};
  EXPECT_FALSE(is_corrected(10)) << "inconclusive alone";
  measured.change_interval = {-0.04, -0.021};
  EXPECT_TRUE(is_corrected(10));
  measured.conclusion = Conclusion::exceeds_limit;
  EXPECT_FALSE(is_corrected(10));
  measured.conclusion = Conclusion::within_limit;
  measured.missed = {};
  EXPECT_FALSE(is_corrected(10));
}

}  // namespace
}  // namespace hone
