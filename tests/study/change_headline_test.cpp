#include "hone/study/change_headline.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

// 1,348 and 1,349 of 1,515 predictions are correct.
TEST(ChangeHeadline, PrintsOneOfTwoValuesThatRoundingMakesAlike) {
  const double before = 1348 / 1515.0, after = 1349 / 1515.0;
  const Verdict verdict{.change = after - before, .change_interval = Interval{-0.01, 0.01}};
  EXPECT_EQ(unjudged_headline(before, after, verdict),
            "accuracy 89.0% (+0.07 points, 95% CI -1.00 to +1.00)");
  EXPECT_TRUE(unjudged_headline(before, before, verdict).starts_with("accuracy 89.0% → 89.0% ("));
  EXPECT_TRUE(unjudged_headline(0.89, 0.9, verdict).starts_with("accuracy 89.0% → 90.0% ("));
}

}  // namespace
}  // namespace hone
