#include "hone/formats/int.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/formats/backward_testing.h"
#include "tests/formats/formats_testing.h"
#include "tests/support/expect.h"

namespace hone::testing {
namespace {

const std::vector<std::string> kStatic = {
    "int",
    "int(bits=2)",
    "int(bits=16)",
    "int(bits=5,per=row)",
    "int(bits=8,range=affine)",
    "int(bits=3,per=row,range=affine)",
    "int(bits=4,scale=learned)",
    "int(bits=8,per=row,scale=learned)",
};
const std::vector<std::string> kDynamic = {
    "int(scale=dynamic)",         "int(bits=4,scale=dynamic,range=affine)",
    "int(per=row,scale=dynamic)", "int(bits=16,per=row,scale=dynamic,range=affine)",
    "int(bits=2,per=token)",      "int(per=token,range=affine)",
    "int(bits=6,mode=mase)",
};

std::vector<std::string> all_int_formats() {
  std::vector<std::string> all = kStatic;
  all.insert(all.end(), kDynamic.begin(), kDynamic.end());
  return all;
}

std::vector<float> dynamic_8(const std::vector<float>& x, Sizes sizes = {}) {
  return by_reference("int(per=row,scale=dynamic)", x, sizes);
}

TEST(Int, GivesTheValuesOfTheVectors) {
  EXPECT_GE(check_vectors("scale_integer", "mase",
                          [](const Json& parameters) {
                            return fmt::format("int(bits={},mode=mase)",
                                               parameters["width"].get<int>());
                          }),
            18);
}

TEST(Int, SpellsOutWhereItsScalesComeFrom) {
  EXPECT_EQ(to_string(format_of("int")), "int(bits=8,per=tensor,scale=static)");
  EXPECT_EQ(to_string(format_of("int(per=token)")), "int(bits=8,per=token,scale=dynamic)");
  EXPECT_EQ(to_string(format_of("int(bits=4,per=row,range=affine)")),
            "int(bits=4,per=row,range=affine,scale=static)");
  EXPECT_EQ(to_string(format_of("int(mode=mase)")), "int(bits=8,per=row,scale=dynamic,mode=mase)");
  for (const std::string& format : all_int_formats())
    EXPECT_EQ(format_of(to_string(format_of(format))), format_of(format)) << format;
}

TEST(Int, IsShortWithoutWordsThatFollowFromOthers) {
  EXPECT_EQ(short_text(format_of("int")), "int(bits=8)");
  EXPECT_EQ(short_text(format_of("int(per=row)")), "int(bits=8,per=row)");
  EXPECT_EQ(short_text(format_of("int(per=token)")), "int(bits=8,per=token)");
  EXPECT_EQ(short_text(format_of("int(mode=mase)")), "int(bits=8,mode=mase)");
  for (const std::string& format : all_int_formats())
    EXPECT_EQ(format_of(short_text(format_of(format))), format_of(format)) << format;
}

TEST(Int, RefusesScalesThatNobodyCanKnow) {
  expect_user_error("per=token has as many scales as an activation has rows",
                    [] { format_of("int(per=token,scale=static)"); });
  expect_user_error("use scale=dynamic, or per=tensor",
                    [] { format_of("int(per=token,scale=learned)"); });
  expect_user_error("learned scales have no zero point; use range=symmetric",
                    [] { format_of("int(scale=learned,range=affine)"); });
  for (const char* text : {"int(mode=mase,scale=learned)", "int(mode=mase,per=tensor)",
                           "int(mode=mase,range=affine)", "int(mode=mase,per=token)"})
    expect_user_error("dynamic symmetric scales per row only", [&] { format_of(text); });
}

TEST(Int, HasTheSameBitsFastAndSlow) {
  for (const std::string& format : all_int_formats()) {
    check_fast(format, any_values(70003), {});
    check_fast(format, any_values(37 * 131), {37, 131});
    check_fast(format, any_values(3 * 5 * 17), {3, 5, 17});
    check_fast(format, any_values(80002), {2, 40001});
    check_fast(format, {-3.0f}, {1});
    check_fast(format, any_values(40), {40, 1});
  }
}

TEST(Int, IsIdempotentWithAGivenScale) {
  for (const std::string& format : kStatic)
    check_idempotent(format, finite_values(2000), {20, 100});
}

// Quantizing again changes the scale by the rounding of two operations at most.
TEST(Int, ChangesByRoundingOnlyWhenRepeated) {
  for (const std::string& format : kDynamic) {
    if (format.ends_with("mase)")) continue;  // shrinks with every call
    const std::vector<float> once = by_reference(format, normal_values(2000), {20, 100});
    const std::vector<float> twice = by_reference(format, once, {20, 100});
    for (std::size_t i = 0; i < once.size(); ++i)
      EXPECT_NEAR(twice[i], once[i], 4e-7 * std::fabs(once[i])) << format;
  }
}

TEST(Int, IsOddWhereItIsSymmetric) {
  for (const std::string& format : all_int_formats()) {
    if (format.ends_with("affine)") || format.ends_with("mase)")) continue;
    check_odd(format, finite_values(2000), {20, 100});
  }
}

TEST(Int, IsMonotone) {
  for (const char* format : {"int", "int(bits=3)", "int(range=affine)", "int(scale=dynamic)",
                             "int(bits=16,scale=learned)"})
    check_monotone(format);
}

TEST(Int, PacksItsCodes) {
  for (const std::string& format : all_int_formats()) {
    check_packs(format, finite_values(2001), {});
    check_packs(format, normal_values(33 * 7), {33, 7});
  }
}

TEST(Int, TakesTheLargestMagnitudeOfARowAsItsEnd) {
  EXPECT_EQ(dynamic_8({127, -64.4f, 0.5f, 1.5f, 254, -3, 1, 8}, {2, 4}),
            (std::vector<float>{127, -64, 0, 2, 254, -4, 0, 8}));
  EXPECT_EQ(by_reference("int(scale=dynamic)", {127, -64.4f, 0.5f, 1.5f, 254, -3, 1, 8}, {2, 4}),
            (std::vector<float>{128, -64, 0, 2, 254, -4, 0, 8}));
}

TEST(Int, SpendsAllCodesOnAnAffineRange) {
  // 0 … 255 in steps of 1
  EXPECT_EQ(by_reference("int(scale=dynamic,range=affine)", {255, 0.4f, 1, 2.5f, 254}),
            (std::vector<float>{255, 0, 1, 2, 254}));
  // -1 … 2 in steps of 1
  EXPECT_EQ(by_reference("int(bits=2,scale=dynamic,range=affine)", {-1, 2, 0.6f, 0}),
            (std::vector<float>{-1, 2, 1, 0}));
  // a range without 0 is extended to it
  EXPECT_EQ(by_reference("int(bits=2,scale=dynamic,range=affine)", {6, 4, 5.5f}),
            (std::vector<float>{6, 4, 6}));
}

TEST(Int, KeepsZeroExact) {
  std::vector<float> x = normal_values(100);
  x[17] = 0;
  for (const std::string& format : all_int_formats())
    EXPECT_EQ(by_reference(format, x, {1, 100}, calibrated_state(format, x, {1, 100}))[17], 0)
        << format;
}

TEST(Int, IsWithinHalfAStep) {
  const std::vector<float> x = finite_values(4000, 4, 4);
  for (const char* text : {"int", "int(bits=4)", "int(range=affine)", "int(bits=3,range=affine)"}) {
    const std::vector<Tensor> state = calibrated_state(text, x);
    const double half = 0.5000001 * state[0].values<float>()[0];
    const std::vector<float> y = by_reference(text, x, {}, state);
    for (std::size_t i = 0; i < x.size(); ++i) EXPECT_LE(std::fabs(y[i] - x[i]), half) << text;
  }
}

TEST(Int, KeepsNanAndSaturatesInfinities) {
  const float inf = INFINITY;
  for (const char* format : {"int(scale=dynamic)", "int(per=token)"}) {
    const std::vector<float> y = by_reference(format, {inf, -inf, NAN, 127, 3, -1}, {1, 6});
    EXPECT_EQ((std::vector<float>{y[0], y[1], y[3], y[4], y[5]}),
              (std::vector<float>{127, -127, 127, 3, -1}));
    EXPECT_TRUE(std::isnan(y[2]));
  }
  const std::vector<float> y =
      by_reference("int(per=token,range=affine)", {inf, -inf, NAN, 254, 3, -1}, {1, 6});
  EXPECT_EQ((std::vector<float>{y[0], y[1], y[3], y[4], y[5]}),
            (std::vector<float>{254, -1, 254, 3, -1}));
  EXPECT_TRUE(std::isnan(y[2]));
}

TEST(Int, PoisonsTheRowOfANanInTheOldMode) {
  const std::vector<float> y = by_reference("int(mode=mase)", {1, NAN, 2, 3, 1, INFINITY}, {3, 2});
  for (const std::size_t i : {0, 1, 4, 5}) EXPECT_TRUE(std::isnan(y[i])) << i;
  EXPECT_EQ(y[2], 1.9921875f);
  EXPECT_EQ(y[3], 2.9765625f);
}

TEST(Int, StaysFiniteAtBothEndsOfTheRangeOfFloats) {
  const float largest = std::numeric_limits<float>::max();
  for (const std::string& format : all_int_formats()) {
    if (format.ends_with("mase)")) continue;
    for (const float end : {largest, 1e-45f, 1e-38f}) {
      const std::vector<float> x = {end, -end, 0, end / 3};
      for (const float y : by_reference(format, x, {1, 4}, calibrated_state(format, x, {1, 4}))) {
        EXPECT_TRUE(std::isfinite(y)) << format << ", " << end;
        EXPECT_LE(std::fabs(y), end < 1 ? 1e-36f : largest) << format;
      }
    }
  }
  EXPECT_EQ(dynamic_8({0, 0, 0}), (std::vector<float>{0, 0, 0}));
}

TEST(Int, HasNoCodeForNan) {
  expect_user_error("int(bits=8,per=row,scale=dynamic) has no code for nan", [] {
    const Format format = format_of("int(per=row,scale=dynamic)");
    const std::vector<float> x = {1, NAN};
    format.def->encode({format, {2}, x, {}});
  });
  expect_user_error("has no code for inf", [] {
    const Format format = format_of("int(mode=mase)");
    const std::vector<float> x = {1, INFINITY};
    format.def->encode({format, {2}, x, {}});
  });
}

TEST(Int, CountsItsScales) {
  EXPECT_EQ(average_bits(format_of("int(bits=4,per=row,scale=dynamic)"), {10, 64}), 4.5);
  EXPECT_EQ(average_bits(format_of("int(bits=4,per=row)"), {10, 64}), 4.5);
  EXPECT_EQ(average_bits(format_of("int(bits=4,per=token,range=affine)"), {10, 64}), 5);
  EXPECT_EQ(average_bits(format_of("int"), {10, 64}), 8 + 32.0 / 640);
}

TEST(Int, CalibratesTheObservedRange) {
  const std::vector<float> x = {-1, 0.25f, 3};
  EXPECT_EQ(calibrated_state("int", x)[0].values<float>()[0], 3.0f / 127);
  const std::vector<Tensor> affine = calibrated_state("int(bits=2,range=affine)", x);
  EXPECT_EQ(affine[0].values<float>()[0], 4.0f / 3);
  EXPECT_EQ(affine[1].values<float>()[0], 1);
  const std::vector<Tensor> rows = calibrated_state("int(per=row)", {1, -2, 3, 4}, {2, 2});
  EXPECT_EQ(rows[0].sizes(), (Sizes{2}));
  EXPECT_EQ(rows[0].values<float>()[0], 2.0f / 127);
  EXPECT_EQ(rows[0].values<float>()[1], 4.0f / 127);
  // 2 mean|x| / sqrt(7) for a learned scale
  EXPECT_FLOAT_EQ(calibrated_state("int(bits=4,scale=learned)", {1, -3})[0].values<float>()[0],
                  static_cast<float>(4 / std::sqrt(7.0)));
}

TEST(Int, WritesItsStateDown) {
  const auto names = [](const char* text) {
    std::vector<std::string> names;
    for (const FormatStateDef& state : states_of(format_of(text)))
      names.push_back(fmt::format("{}{}{}", state.name, state.per_row ? " per row" : "",
                                  state.learned ? ", learned" : ""));
    return fmt::format("{}", fmt::join(names, "; "));
  };
  EXPECT_EQ(names("int"), "scale");
  EXPECT_EQ(names("int(per=row,range=affine)"), "scale per row; zero_point per row");
  EXPECT_EQ(names("int(per=row,scale=learned)"), "scale per row, learned");
  EXPECT_EQ(names("int(per=token)"), "");
  EXPECT_EQ(names("int(mode=mase)"), "");
}

TEST(Int, LetsGradientsStraightThroughUnlessItsScaleIsLearned) {
  for (const std::string& format : all_int_formats())
    EXPECT_EQ(gradient_rule_of(format_of(format)) == GradientRule::own,
              format.find("learned") != std::string::npos)
        << format;
}

// LSQ's formulas as loops in double.
TEST(Int, GivesLearnedScalesTheGradientOfLsq) {
  const std::vector<float> x = normal_values(4 * 1000), dy = normal_values(4 * 1000, 3);
  for (const bool per_row : {false, true}) {
    const std::size_t groups = per_row ? 4 : 1, columns = x.size() / groups;
    const std::vector<float> scales = {0.3f, -0.25f, 0.2f, 0.15f};
    const std::vector<Tensor> state = {per_row ? Tensor::of<float>({4}, scales)
                                               : Tensor::scalar(scales[0])};
    const FormatGradients got =
        gradients_of(per_row ? "int(bits=4,per=row,scale=learned)" : "int(bits=4,scale=learned)", x,
                     {4, 1000}, state, dy);
    for (std::size_t g = 0; g < groups; ++g) {
      const double scale = std::fabs(scales[g]);
      double sum = 0, terms = 0;
      int outside = 0;
      for (std::size_t i = g * columns; i < (g + 1) * columns; ++i) {
        const double v = x[i] / scale;
        const bool inside = std::fabs(v) <= 7;
        outside += inside ? 0 : 1;
        EXPECT_EQ(got.dx[i], inside ? dy[i] : 0);
        const double term = dy[i] * (inside ? std::nearbyint(v) - v : std::copysign(7.0, v));
        sum += term;
        terms += std::fabs(term);
      }
      EXPECT_GT(outside, 0);
      const double pace = (scales[g] < 0 ? -1 : 1) / std::sqrt(static_cast<double>(columns) * 7);
      EXPECT_NEAR(got.state[0].values<float>()[g], pace * sum, 1e-6 * std::fabs(pace) * terms);
    }
  }
}

TEST(Int, HasTheSameGradientsForAnyThreadsAndProcessor) {
  for (const char* format : {"int(bits=4,scale=learned)", "int(bits=2,per=row,scale=learned)"}) {
    check_backward(format, normal_values(70003), {70003});
    check_backward(format, normal_values(3 * 37 * 31), {3, 37, 31});
    check_backward(format, normal_values(2 * 40001), {2, 40001});
  }
}

TEST(Int, LearnsAScaleFromABadStart) {
  const std::vector<float> x = normal_values(4096, 0.05);
  // the best scale of 4 bits for a normal distribution is about a third of its standard deviation
  for (const float start : {0.1f, 0.002f}) {
    const Descent descent =
        descend("int(bits=4,scale=learned)", x, {64, 64}, {Tensor::scalar(start)}, 12, 300);
    EXPECT_LT(descent.after, 0.02 * 0.05 * 0.05) << start << ", before: " << descent.before;
    EXPECT_LT(descent.after, descent.before / 2);
  }
}

}  // namespace
}  // namespace hone::testing
