#include "hone/base/percentage.h"

#include <gtest/gtest.h>

#include <limits>

namespace hone {
namespace {

TEST(Percentage, HasOneDecimalOfAShareAndTwoOfADifference) {
  EXPECT_EQ(share_text(0.5152), "51.5%");
  EXPECT_EQ(share_text(0.54), "54.0%");
  EXPECT_EQ(share_text(0), "0.0%");
  EXPECT_EQ(flip_share_text(0), "0.00%");
  EXPECT_EQ(flip_share_text(0.0619), "6.19%");
  EXPECT_EQ(points_text(-0.0023), "-0.23");
  EXPECT_EQ(points_text(0.021), "+2.10");
}

TEST(Percentage, NeverShowsAShareAsZeroThatIsNot) {
  EXPECT_EQ(share_text(0.0004), "< 0.1%");
  EXPECT_EQ(flip_share_text(0.00002), "< 0.01%");
  EXPECT_EQ(rounded_text(-3.4e-9, 2), "> -0.01");
  EXPECT_EQ(rounded_text(0.4, 0), "< 1");
}

TEST(Percentage, OfSeveralSharesHasOneUnit) {
  const double shares[] = {0.835, std::numeric_limits<double>::quiet_NaN(), 0.00001};
  EXPECT_EQ(shares_text(shares), "83.5, –, < 0.1%");
  EXPECT_EQ(shares_text(std::span(shares).first(1), 2), "83.50%");
}

TEST(Percentage, HasNoSignOnAZero) {
  EXPECT_EQ(points_text(-0.00001), "+0.00");
  EXPECT_EQ(points_text(0.0), "+0.00");
}

// Rounding errors in a half do not change the text: 0.00325 and 0.92250 - 0.91925 print the same.
TEST(Percentage, RoundsHalvesAwayFromZero) {
  EXPECT_EQ(points_text(0.00325), "+0.33");
  EXPECT_EQ(points_text(0.92250 - 0.91925), "+0.33");
  EXPECT_EQ(points_text(0.91925 - 0.92250), "-0.33");
  EXPECT_EQ(points_text(-0.00025), "-0.03");
  EXPECT_EQ(percent_number(0.00325, 2), "0.33");
  EXPECT_EQ(share_text(0.9225), "92.3%");
}

TEST(Percentage, OfNoNumberIsADash) {
  EXPECT_EQ(share_text(std::numeric_limits<double>::quiet_NaN()), "–");
  EXPECT_EQ(points_text(std::numeric_limits<double>::quiet_NaN()), "–");
}

}  // namespace
}  // namespace hone
