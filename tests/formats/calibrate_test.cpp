#include "hone/formats/calibrate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "hone/base/cpu.h"
#include "hone/base/random.h"
#include "tests/formats/formats_testing.h"
#include "tests/support/expect.h"
#include "tests/support/sanitized.h"

namespace hone::testing {
namespace {

// Returns samples of N(0, 1), with one outlier in a thousand.
std::vector<float> with_outliers(std::size_t count) {
  RandomSequence random(3, stream_of("calibrate"));
  std::vector<float> x;
  for (std::size_t i = 0; i < count; ++i)
    x.push_back(static_cast<float>(random.normal() * (i % 1000 == 0 ? 30 : 1)));
  return x;
}

std::vector<float> quantized_by(std::string_view format, const std::vector<float>& x,
                                const std::vector<Tensor>& state) {
  return by_reference(format, x, {}, state);
}

std::vector<Tensor> state_of(std::string_view format, const std::vector<float>& x,
                             const CalibrationOptions& options) {
  return calibrate_tensor(format_of(format), {std::ssize(x)}, x, options);
}

double squared_error(std::string_view format, const std::vector<float>& x,
                     const std::vector<Tensor>& state) {
  const std::vector<float> y = quantized_by(format, x, state);
  double error = 0;
  for (std::size_t i = 0; i < x.size(); ++i) error += std::pow(static_cast<double>(y[i]) - x[i], 2);
  return error;
}

double squared_error(std::string_view format, const std::vector<float>& x,
                     const CalibrationOptions& options) {
  return squared_error(format, x, state_of(format, x, options));
}

/// Values as in weights and activations, and edge cases of calibration.
struct Sample {
  std::string name;
  std::vector<float> values;
};
std::vector<Sample> samples(std::size_t count) {
  const auto drawn = [&](const char* name, const auto& draw) {
    RandomSequence random(5, stream_of(name));
    Sample sample{name, {}};
    for (std::size_t i = 0; i < count; ++i)
      sample.values.push_back(static_cast<float>(draw(random, i)));
    return sample;
  };
  using Random = RandomSequence;
  return {
      drawn("normal", [](Random& r, std::size_t) { return r.normal(); }),
      drawn("uniform", [](Random& r, std::size_t) { return r.uniform() - 0.3; }),
      drawn("positive", [](Random& r, std::size_t) { return 0.3 + r.uniform(); }),
      drawn("gelu",
            [](Random& r, std::size_t) {
              const double x = r.normal();
              return x * 0.5 * (1 + std::erf(x / std::sqrt(2)));
            }),
      drawn("heavy tail", [](Random& r, std::size_t) { return r.normal() / (0.02 + r.uniform()); }),
      drawn("one huge", [](Random& r, std::size_t i) { return i == 3 ? -1e5 : r.normal(); }),
      drawn("mostly zero",
            [](Random& r, std::size_t) { return r.uniform() < 0.98 ? 0 : r.normal(); }),
      drawn("constant", [](Random&, std::size_t) { return 0.0237; }),
      drawn("narrow", [](Random& r, std::size_t) { return 1.001 + 0.02 * r.uniform(); }),
      drawn("few values",
            [](Random& r, std::size_t) { return 0.11 * (static_cast<double>(r.below(12)) - 4); }),
      drawn("mixed", [](Random& r, std::size_t i) { return r.normal() * (i % 50 == 0 ? 8 : 1); })};
}

// Returns the least error over ranges 0.4% apart and, for asymmetric formats, all zero points.
double least_of_all_ranges(std::string_view format, const std::vector<float>& x, int zero_points) {
  const auto [low, high] = std::ranges::minmax(x);
  const float largest = std::max(std::fabs(low), std::fabs(high)),
              length = std::max(high, 0.0f) - std::min(low, 0.0f);
  const double codes = std::exp2(format_of(format)["bits"]) - 1;
  double least = squared_error(format, x, {RangeRule::minmax});
  for (double share = 2.2; share > 0.002; share *= 0.996)
    for (int zero = 0; zero < std::max(1, zero_points); ++zero) {
      std::vector<Tensor> state = {Tensor::scalar(static_cast<float>(
          zero_points == 0 ? share * largest / ((codes - 1) / 2) : share * length / codes))};
      if (zero_points > 0) state.push_back(Tensor::scalar(static_cast<float>(zero)));
      least = std::min(least, squared_error(format, x, state));
    }
  return least;
}

TEST(Calibrate, FindsTheLeastErrorOfAllRanges) {
  for (const auto& [format, zero_points, count] : {std::tuple("int(bits=2)", 0, 600),
                                                   {"int(bits=4)", 0, 600},
                                                   {"int(bits=8)", 0, 600},
                                                   {"int(bits=8)", 0, 40},
                                                   {"int(bits=2,range=affine)", 4, 80},
                                                   {"int(bits=4,range=affine)", 16, 80}})
    for (const Sample& sample : samples(static_cast<std::size_t>(count))) {
      const double found = squared_error(format, sample.values, {RangeRule::mse}),
                   least = least_of_all_ranges(format, sample.values, zero_points);
      EXPECT_LE(found, 1.001 * least + 1e-12) << format << ", " << sample.name;
    }
}

// Large tensors are observed by the means of bins.
TEST(Calibrate, FindsTheLeastErrorOfManyValues) {
  for (const auto& [format, above] :
       {std::pair("int(bits=4)", 1.001), {"int(bits=8)", 1.001}, {"int(bits=12)", 1.02}})
    for (const Sample& sample : samples(Observation::kExactValues + 4000)) {
      const double found = squared_error(format, sample.values, {RangeRule::mse});
      const auto scale =
          static_cast<double>(*state_of(format, sample.values, {RangeRule::mse})[0].data<float>());
      double least = squared_error(format, sample.values, {RangeRule::minmax});
      for (const double near : {0.5, 0.7, 0.9, 0.97, 0.99, 0.998, 1.002, 1.01, 1.03, 1.1, 1.4, 2.0})
        least = std::min(least, squared_error(format, sample.values,
                                              {Tensor::scalar(static_cast<float>(near * scale))}));
      EXPECT_LE(found, above * least + 1e-12) << format << ", " << sample.name;
    }
}

TEST(Calibrate, LosesLeastByTheLeastErrorInOtherFormats) {
  for (const char* format : {"integer(width=4)", "integer(width=6)", "log(width=4)",
                             "int(bits=8,range=affine)", "integer(width=4,sign=unsigned)"})
    for (const Sample& sample : samples(3000)) {
      const double mse = squared_error(format, sample.values, {RangeRule::mse});
      EXPECT_LE(mse, squared_error(format, sample.values, {RangeRule::minmax}))
          << format << ", " << sample.name;
      for (const double percentile : {90.0, 99.0, 99.9})
        EXPECT_LE(mse,
                  1.001 * squared_error(format, sample.values, {RangeRule::percentile, percentile}))
            << format << ", " << sample.name << ", " << percentile;
    }
  const std::vector<float> x = with_outliers(20000);
  EXPECT_LT(squared_error("integer(width=4)", x, {RangeRule::mse}),
            0.6 * squared_error("integer(width=4)", x, {RangeRule::minmax}));
}

// Checks by sorting: at most half of the excluded share lies beyond each end, and the next value would exceed it.
void expect_share_inside(std::vector<float> x, double percentile, double low, double high,
                         bool symmetric, double slack) {
  std::ranges::sort(x);
  const auto at_each_end = static_cast<std::size_t>(
      std::floor((100 - percentile) / 200 * static_cast<double>(x.size()) + 1e-9));
  const double exact_low = x[at_each_end], exact_high = x[x.size() - 1 - at_each_end];
  if (exact_low == 0 && exact_high == 0) {
    EXPECT_TRUE(low <= x.front() + slack && high >= x.back() - slack) << "only zeros are inside";
    return;
  }
  EXPECT_LE(low, exact_low + slack);
  EXPECT_GE(high, exact_high - slack);
  const double widest = std::max(std::fabs(exact_low), std::fabs(exact_high)) + slack;
  EXPECT_TRUE(!symmetric || high <= widest) << high << " of " << widest;
}

TEST(Calibrate, KeepsThePromisedShareInside) {
  for (const std::size_t count : {std::size_t{1}, std::size_t{3}, std::size_t{500},
                                  std::size_t{2500}, Observation::kExactValues + 1000})
    for (const Sample& sample : samples(count))
      for (const double percentile : {50.0, 99.0, 99.9, 99.99, 100.0}) {
        SCOPED_TRACE(fmt::format("{} of {}, {}%", sample.name, count, percentile));
        const CalibrationOptions options{RangeRule::percentile, percentile};
        const auto scale_of = [&](const char* format) {
          return static_cast<double>(*state_of(format, sample.values, options)[0].data<float>());
        };
        const double bound = 127 * scale_of("int(bits=8)");
        // The scale is rounded, and bins have a relative width of 1/1024.
        const double slack = bound * (count > Observation::kExactValues ? 0x1p-10 : 1e-6);
        expect_share_inside(sample.values, percentile, -bound, bound, /*symmetric=*/true, slack);
        const std::vector<Tensor> affine =
            state_of("int(bits=8,range=affine)", sample.values, options);
        const double step = *affine[0].data<float>(), zero = *affine[1].data<float>();
        // The zero point is an integer, so an end may move by half a step.
        expect_share_inside(sample.values, percentile, -zero * step, (255 - zero) * step,
                            /*symmetric=*/false, slack + 0.51 * step);
      }
}

TEST(Calibrate, KeepsTheShareOfEveryRowInside) {
  const std::vector<Sample> all = samples(400);
  std::vector<float> x;
  for (const Sample& sample : all) x.insert(x.end(), sample.values.begin(), sample.values.end());
  const Tensor state = calibrate_tensor(format_of("int(bits=4,per=row)"), {std::ssize(all), 400}, x,
                                        {RangeRule::percentile, 99})[0];
  const std::span<const float> scales = state.values<float>();
  for (std::size_t row = 0; row < all.size(); ++row) {
    const double bound = 7 * static_cast<double>(scales[row]);
    expect_share_inside(all[row].values, 99, -bound, bound, true, 1e-6 * bound);
  }
}

TEST(Calibrate, CutsOutliersOffByPercentile) {
  const std::vector<float> x = with_outliers(20000);
  const auto fraction = [&](const CalibrationOptions& options) {
    return *calibrate_tensor(format_of("integer(width=8)"), {20000}, x, options)[0].data<float>();
  };
  EXPECT_EQ(fraction({RangeRule::percentile, 100}), fraction({RangeRule::minmax}));
  // 99.8% of the normal values are within 3.3. With 127 steps, 2^5 is the finest fraction that fits.
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

// A row's observation takes 128 KiB. Those of a whole embedding table would take gigabytes.
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
  if (!testing::kSanitized) {  // sanitizers keep freed memory
    EXPECT_LT(static_cast<double>(peak_resident_bytes()) - before, 50e6) << "of 262e6 for all rows";
  }
  const std::span<const float> scales = state.at(0).values<float>();
  ASSERT_EQ(std::ssize(scales), rows);
  for (std::int64_t row = 1; row < rows; row += 333)
    EXPECT_FLOAT_EQ(scales[static_cast<std::size_t>(row)] / scales[0], static_cast<float>(row + 1));
}

}  // namespace
}  // namespace hone::testing
