#include "hone/formats/integer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "hone/base/json.h"
#include "hone/base/random.h"
#include "hone/formats/format.h"
#include "tests/support/message.h"

namespace hone::testing {
namespace {

const FormatTable& formats() {
  static const FormatTable table = builtin_formats();
  return table;
}

std::vector<float> by_reference(const std::string& text, const std::vector<float>& x) {
  const Format format = parse_format(text, formats());
  std::vector<float> y(x.size());
  format.def->quantize_reference(format, x, {}, y);
  return y;
}

std::vector<float> fast(const std::string& text, const std::vector<float>& x, int threads = 1) {
  const Format format = parse_format(text, formats());
  ThreadPool pool(threads);
  std::vector<float> y(x.size());
  format.def->quantize(format, pool, x, {}, y);
  return y;
}

// All magnitudes, and what is no ordinary number.
std::vector<float> many_values(std::size_t count) {
  RandomSequence random(1, stream_of("integer_test"));
  std::vector<float> values = {0.0f,     -0.0f,     0.5f, -0.5f,  1.5f,    2.5f,
                               INFINITY, -INFINITY, NAN,  1e-45f, 3.4e38f, -3.4e38f};
  while (values.size() < count) {
    const double sign = random.below(2) == 0 ? 1 : -1;
    values.push_back(static_cast<float>(sign * std::exp2(40 * random.uniform() - 20)));
  }
  return values;
}

const std::vector<std::string> kFormats = {
    "integer(width=8,frac=4)",  "integer(width=4,frac=2)",   "integer(width=1,frac=0)",
    "integer(width=16,frac=8)", "integer(width=32,frac=16)", "integer(width=8,frac=-3)",
    "integer(width=6,frac=8)",  "integer(width=2,frac=64)",  "integer(width=32,frac=-64)"};

// Equal as numbers with the sign of zero, or both no number.
bool same(float a, float b) {
  return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b) ||
         (std::isnan(a) && std::isnan(b));
}

float number(const Json& value) {
  if (!value.is_string()) return value.get<float>();
  const std::string text = value.get<std::string>();
  return text == "nan" ? NAN : text == "inf" ? INFINITY : -INFINITY;
}

TEST(Integer, GivesTheValuesOfTheVectors) {
  int checked = 0;
  for (const Json& entry : read_json(fs::path(HONE_TEST_DATA) / "vectors" / "formats.json")) {
    const Json& parameters = entry["params"];
    if (entry["format"] != "integer" || !parameters["is_signed"].get<bool>()) continue;
    const std::string format =
        fmt::format("integer(width={},frac={})", parameters["width"].get<int>(),
                    parameters["frac_width"].get<int>());
    for (const Json& row : entry["cases"]) {
      const float x = number(row["in"]), expected = number(row["out"]);
      EXPECT_TRUE(same(by_reference(format, {x})[0], expected)) << format << " of " << x;
      EXPECT_TRUE(same(fast(format, {x})[0], expected)) << format << " of " << x << ", fast";
      ++checked;
    }
  }
  EXPECT_GE(checked, 60);
}

TEST(Integer, HasTheSameBitsFastAndSlowForAnyNumberOfThreads) {
  const std::vector<float> x = many_values(100003);
  for (const std::string& format : kFormats) {
    const std::vector<float> expected = by_reference(format, x), one = fast(format, x, 1),
                             three = fast(format, x, 3);
    for (std::size_t i = 0; i < x.size(); ++i) {
      ASSERT_TRUE(same(one[i], expected[i])) << format << " of " << x[i] << ": " << one[i];
      ASSERT_TRUE(same(three[i], one[i])) << format << " of " << x[i];
    }
  }
}

TEST(Integer, MayWorkInPlace) {
  const Format format = parse_format("integer(width=8,frac=4)", formats());
  ThreadPool pool(1);
  std::vector<float> values = {0.1f, 100, -3.03f};
  const std::vector<float> expected = fast("integer(width=8,frac=4)", values);
  format.def->quantize(format, pool, values, {}, values);
  EXPECT_EQ(values, expected);
}

TEST(Integer, IsIdempotent) {
  for (const std::string& format : kFormats) {
    const std::vector<float> once = by_reference(format, many_values(2000));
    const std::vector<float> twice = by_reference(format, once);
    for (std::size_t i = 0; i < once.size(); ++i)
      EXPECT_TRUE(same(once[i], twice[i])) << format << " of " << once[i];
  }
}

TEST(Integer, IsMonotone) {
  std::vector<float> x = many_values(2000);
  std::erase_if(x, [](float value) { return std::isnan(value); });
  std::sort(x.begin(), x.end());
  for (const std::string& format : kFormats) {
    const std::vector<float> y = by_reference(format, x);
    EXPECT_TRUE(std::is_sorted(y.begin(), y.end())) << format;
  }
}

// The error is half a step at most where nothing saturates: 2^-5 for frac=4.
TEST(Integer, IsWithinHalfAStep) {
  for (const float x : many_values(2000)) {
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
  const Format format = parse_format(text, formats());
  Observation observation;
  observation.include(seen);
  return *format.def->calibrate(format, observation)[0].data<float>();
}

// The largest fraction whose greatest value, 127 2^-f, is not below the magnitude that was seen.
TEST(Integer, CalibratesTheLargestFractionThatHoldsTheRange) {
  EXPECT_EQ(calibrated_fraction("integer(width=8)", {0.1f, -1.0f}), 6);
  EXPECT_EQ(calibrated_fraction("integer(width=8)", {0.5f, -0.25f}), 7);
  EXPECT_EQ(calibrated_fraction("integer(width=8)", {127, 0}), 0);
  EXPECT_EQ(calibrated_fraction("integer(width=8)", {127.5f, 0}), -1);
  EXPECT_EQ(calibrated_fraction("integer(width=4)", {-0.9f}), 2);
}

TEST(Integer, CalibratesToTheMaximumWithoutAnythingToHold) {
  EXPECT_EQ(calibrated_fraction("integer(width=8)", {0, 0}), 64);
  EXPECT_EQ(calibrated_fraction("integer(width=8)", {}), 64);
}

TEST(Integer, ReadsTheCalibratedFraction) {
  const Format format = parse_format("integer(width=8,frac=auto)", formats());
  const std::vector<FormatStateDef> states = format.def->state(format);
  ASSERT_EQ(states.size(), 1u);
  EXPECT_EQ(states[0].name, "frac");
  EXPECT_EQ(states[0].sizes, Sizes{});
  const std::vector<float> x = many_values(1000);
  std::vector<float> reference(x.size()), quick(x.size());
  const std::vector<Tensor> state = {Tensor::scalar(5.0f)};
  ThreadPool pool(1);
  format.def->quantize_reference(format, x, state, reference);
  format.def->quantize(format, pool, x, state, quick);
  const std::vector<float> expected = by_reference("integer(width=8,frac=5)", x);
  for (std::size_t i = 0; i < x.size(); ++i) {
    EXPECT_TRUE(same(reference[i], expected[i]) && same(quick[i], expected[i])) << x[i];
  }
}

TEST(Integer, NeedsNoStateForAFixedFraction) {
  const Format format = parse_format("integer(width=8,frac=4)", formats());
  EXPECT_TRUE(format.def->state(format).empty());
}

TEST(Integer, TakesItsWidthInBits) {
  const Format format = parse_format("integer(width=6,frac=4)", formats());
  EXPECT_EQ(format.def->average_bits(format), 6);
}

}  // namespace
}  // namespace hone::testing
