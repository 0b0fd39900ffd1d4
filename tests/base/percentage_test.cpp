#include "hone/base/percentage.h"

#include <gtest/gtest.h>

#include <limits>

namespace hone {
namespace {

TEST(Percentage, HasOneDecimalOfAShareAndTwoOfADifference) {
  EXPECT_EQ(share_text(0.5152), "51.5 %");
  EXPECT_EQ(share_text(0.54), "54.0 %");
  EXPECT_EQ(share_text(0), "0.0 %");
  EXPECT_EQ(flip_share_text(0), "0.00 %");
  EXPECT_EQ(flip_share_text(0.0619), "6.19 %");
  EXPECT_EQ(points_text(-0.0023), "-0.23");
  EXPECT_EQ(points_text(0.021), "+2.10");
}

TEST(Percentage, NeverShowsAShareAsZeroThatIsNot) {
  EXPECT_EQ(share_text(0.0004), "0.04 %");
  EXPECT_EQ(flip_share_text(0.00002), "0.002 %");
}

TEST(Percentage, HasNoSignOnAZero) {
  EXPECT_EQ(points_text(-0.00001), "+0.00");
  EXPECT_EQ(points_text(0.0), "+0.00");
}

TEST(Percentage, OfNoNumberIsADash) {
  EXPECT_EQ(share_text(std::numeric_limits<double>::quiet_NaN()), "–");
  EXPECT_EQ(points_text(std::numeric_limits<double>::quiet_NaN()), "–");
}

}  // namespace
}  // namespace hone
