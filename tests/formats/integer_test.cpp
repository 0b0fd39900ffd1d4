#include "hone/formats/integer.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/formats/formats_testing.h"
#include "tests/support/expect.h"

namespace hone::testing {
namespace {

const std::vector<std::string> kIntegerFormats = {"integer(width=8,frac=4)",
                                                  "integer(width=4,frac=2)",
                                                  "integer(width=1,frac=0)",
                                                  "integer(width=16,frac=8)",
                                                  "integer(width=32,frac=16)",
                                                  "integer(width=8,frac=-3)",
                                                  "integer(width=6,frac=8)",
                                                  "integer(width=2,frac=64)",
                                                  "integer(width=32,frac=-64)",
                                                  "integer(width=8,frac=4,rounding=floor)",
                                                  "integer(width=8,frac=6,sign=unsigned)",
                                                  "integer(width=32,frac=20,sign=unsigned)"};

TEST(Integer, GivesTheValuesOfTheVectors) {
  const auto text_of = [](const std::string& rounding) {
    return [rounding](const Json& parameters) {
      return fmt::format("integer(width={},frac={}{},sign={})", parameters["width"].get<int>(),
                         parameters["frac_width"].get<int>(), rounding,
                         parameters["is_signed"].get<bool>() ? "signed" : "unsigned");
    };
  };
  EXPECT_GE(check_vectors("integer", "mase", text_of("")), 30 + 17 + 13 + 13);
  EXPECT_GE(check_vectors("integer_floor", "mase", text_of(",rounding=floor")), 10);
}

TEST(Integer, HasTheSameBitsFastAndSlow) {
  for (const std::string& format : kIntegerFormats) check_fast(format, any_values(100003), {});
}

TEST(Integer, IsIdempotent) {
  for (const std::string& format : kIntegerFormats)
    check_idempotent(format, finite_values(2000), {});
}

TEST(Integer, PacksItsCodes) {
  for (const std::string& format : kIntegerFormats) check_packs(format, finite_values(2001), {});
}

TEST(Integer, HasNoCodeForWhatIsNoNumber) {
  const Format format = format_of("integer(width=8,frac=4)");
  const std::vector<float> x = {NAN};
  expect_user_error("integer(width=8,frac=4) has no code for nan", [&] {
    format.def->encode({format, {1}, x, {}});
  });
}

TEST(Integer, IsMonotone) {
  for (const std::string& format : kIntegerFormats) check_monotone(format);
}

// Without saturation the error is at most half a step: 2^-5 for frac=4.
TEST(Integer, IsWithinHalfAStep) {
  for (const float x : finite_values(2000)) {
    if (!(std::fabs(x) < 7.9f)) continue;
    EXPECT_LE(std::fabs(by_reference("integer(width=8,frac=4)", {x})[0] - x), 0x1p-5f) << x;
  }
}

TEST(Integer, RoundsTiesToEvenAndSaturates) {
  EXPECT_EQ(by_reference("integer(width=4,frac=0)", {0.5f, 1.5f, 2.5f, -0.5f, -1.5f}),
            (std::vector<float>{0, 2, 2, 0, -2}));
  EXPECT_EQ(by_reference("integer(width=4,frac=0)", {7.4f, 7.6f, INFINITY, -8.6f, -INFINITY}),
            (std::vector<float>{7, 7, 7, -8, -8}));
  EXPECT_TRUE(std::isnan(by_reference("integer(width=4,frac=0)", {NAN})[0]));
}

float calibrated_fraction(const std::string& text, const std::vector<float>& seen) {
  return calibrated_state(text, seen)[0].values<float>()[0];
}

// The largest fraction f for which 127 2^-f is at least the largest observed magnitude.
TEST(Integer, CalibratesTheLargestFractionThatHoldsTheRange) {
  EXPECT_EQ(calibrated_fraction("integer(width=8)", {0.1f, -1.0f}), 6);
  EXPECT_EQ(calibrated_fraction("integer(width=8)", {0.5f, -0.25f}), 7);
  EXPECT_EQ(calibrated_fraction("integer(width=8)", {127, 0}), 0);
  EXPECT_EQ(calibrated_fraction("integer(width=8)", {127.5f, 0}), -1);
  EXPECT_EQ(calibrated_fraction("integer(width=4)", {-0.9f}), 2);
}

TEST(Integer, CalibratesWithoutASignByTheLargestValue) {
  EXPECT_EQ(calibrated_fraction("integer(width=8,sign=unsigned)", {1.0f, -9.0f}), 7);
  EXPECT_EQ(calibrated_fraction("integer(width=8,sign=unsigned)", {-9.0f}), 64);
}

TEST(Integer, CalibratesToTheMaximumWithoutAnythingToHold) {
  EXPECT_EQ(calibrated_fraction("integer(width=8)", {0, 0}), 64);
  EXPECT_EQ(calibrated_fraction("integer(width=8)", {}), 64);
}

TEST(Integer, ReadsTheCalibratedFraction) {
  const std::vector<FormatStateDef> states = states_of(format_of("integer(width=8)"));
  ASSERT_EQ(states.size(), 1u);
  EXPECT_EQ(states[0].name, "frac");
  const std::vector<float> x = finite_values(1000);
  const std::vector<Tensor> state = {Tensor::scalar(5.0f)};
  EXPECT_EQ(by_reference("integer(width=8)", x, {}, state),
            by_reference("integer(width=8,frac=5)", x));
  EXPECT_EQ(fast("integer(width=8)", x, {}, state), fast("integer(width=8,frac=5)", x));
}

TEST(Integer, NeedsNoStateForAFixedFraction) {
  EXPECT_TRUE(states_of(format_of("integer(width=8,frac=4)")).empty());
}

TEST(Integer, TakesItsWidthInBits) {
  EXPECT_EQ(average_bits(format_of("integer(width=6,frac=4)"), {1000}), 6);
}

// A damaged file may contain any fraction.
TEST(Integer, TakesNoFractionBeyondItsRange) {
  const std::vector<float> x = {1, -1};
  std::vector<float> y(2), highest(2);
  const auto round = [&](float frac, std::vector<float>& to) {
    const std::vector<Tensor> state = {Tensor::scalar(frac)};
    const Format format = testing::format_of("integer(width=8)");
    format.def->quantize_reference({format, {2}, x, state}, to);
  };
  round(1e37f, y);
  round(64, highest);
  EXPECT_EQ(y, highest);
}

}  // namespace
}  // namespace hone::testing
