#include "hone/formats/calibrate.h"

#include <gtest/gtest.h>

#include <cmath>

#include "hone/base/cpu.h"
#include "hone/base/random.h"
#include "tests/formats/formats_testing.h"
#include "tests/support/expect.h"
#include "tests/support/sanitized.h"

namespace hone::testing {
namespace {

// N(0, 1) with one value in a thousand far outside.
std::vector<float> with_outliers(std::size_t count) {
  RandomSequence random(3, stream_of("calibrate"));
  std::vector<float> x;
  for (std::size_t i = 0; i < count; ++i)
    x.push_back(static_cast<float>(random.normal() * (i % 1000 == 0 ? 30 : 1)));
  return x;
}

double squared_error(std::string_view format, const std::vector<float>& x,
                     const CalibrationOptions& options) {
  const std::vector<Tensor> state =
      calibrate_tensor(format_of(format), {static_cast<std::int64_t>(x.size())}, x, options);
  const std::vector<float> y = by_reference(format, x, {}, state);
  double error = 0;
  for (std::size_t i = 0; i < x.size(); ++i) error += std::pow(static_cast<double>(y[i]) - x[i], 2);
  return error;
}

TEST(Calibrate, LosesLeastByTheLeastError) {
  const std::vector<float> x = with_outliers(20000);
  for (const char* format : {"integer(width=4)", "integer(width=6)"}) {
    const double minmax = squared_error(format, x, {RangeRule::minmax});
    const double mse = squared_error(format, x, {RangeRule::mse});
    EXPECT_LT(mse, 0.6 * minmax) << format;
    for (const double percentile : {90.0, 99.0, 99.9, 100.0})
      EXPECT_LE(mse, 1.001 * squared_error(format, x, {RangeRule::percentile, percentile}))
          << format << " " << percentile;
  }
}

TEST(Calibrate, CutsOutliersOffByPercentile) {
  const std::vector<float> x = with_outliers(20000);
  const auto fraction = [&](const CalibrationOptions& options) {
    return *calibrate_tensor(format_of("integer(width=8)"), {20000}, x, options)[0].data<float>();
  };
  EXPECT_EQ(fraction({RangeRule::percentile, 100}), fraction({RangeRule::minmax}));
  // 99.8 % of the normal values are within 3.3, of 127 steps: 2^5 is the finest that fits.
  EXPECT_EQ(fraction({RangeRule::percentile, 99.0}), 5);
  EXPECT_LT(fraction({RangeRule::minmax}), 2);
}

TEST(Calibrate, GivesNothingToFormatsWithoutState) {
  const std::vector<float> x = {1, 2};
  EXPECT_TRUE(calibrate_tensor(format_of("integer(width=8,frac=4)"), {2}, x).empty());
}

TEST(Calibrate, RefusesUnknownRulesAndShares) {
  expect_user_error("calibration 'mes': expected minmax, percentile, mse; did you mean 'mse'?",
                    [] { parse_range_rule("mes"); });
  const std::vector<float> x = {1, 2};
  expect_user_error("percentile: expected more than 0 and at most 100, got 0", [&] {
    calibrate_tensor(format_of("integer"), {2}, x, {RangeRule::percentile, 0});
  });
}

// A row's observation takes 128 KiB: together those of an embedding took gigabytes.
TEST(CalibrateTensor, ObservesRowByRow) {
  const Format format = format_of("int(bits=8,per=row)");
  const std::int64_t rows = 2000, columns = 8;
  std::vector<float> x(static_cast<std::size_t>(rows * columns));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i / columns + 1);
  const auto before = static_cast<double>(peak_resident_bytes());
  std::int64_t seen = 0;
  const std::vector<Tensor> state =
      calibrate_tensor(format, {rows, columns}, x, {}, [&](const Observation& row) {
        EXPECT_EQ(row.count(), columns);
        EXPECT_EQ(row.maximum(), static_cast<float>(++seen));
      });
  EXPECT_EQ(seen, rows);
  if (!testing::kSanitized) {  // a sanitizer keeps what was freed
    EXPECT_LT(static_cast<double>(peak_resident_bytes()) - before, 50e6) << "of 262e6 for all rows";
  }
  const std::span<const float> scales = state.at(0).values<float>();
  ASSERT_EQ(std::ssize(scales), rows);
  for (std::int64_t row = 1; row < rows; row += 333)
    EXPECT_FLOAT_EQ(scales[static_cast<std::size_t>(row)] / scales[0], static_cast<float>(row + 1));
}

}  // namespace
}  // namespace hone::testing
