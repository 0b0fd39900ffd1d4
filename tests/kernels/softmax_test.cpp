#include "hone/kernels/softmax.h"

#include "tests/kernels/kernel_testing.h"

namespace hone::kernels {
namespace {

std::vector<float> softmax_of(std::int64_t rows, std::int64_t n, const std::vector<float>& x) {
  return same_for_any_threads([&](ThreadPool& pool) {
    std::vector<float> y(x.size());
    softmax(pool, rows, n, x.data(), y.data());
    return y;
  });
}

TEST(Softmax, AgreesWithDoubles) {
  for_each_target([] {
    for (const std::int64_t n : kOddSizes) {
      constexpr std::int64_t kRows = 5;
      const auto x = random_floats(kRows * n, 1, -8.0, 8.0);
      const auto y = softmax_of(kRows, n, x);
      for (std::int64_t r = 0; r < kRows; ++r) {
        const float* const row = x.data() + r * n;
        const double maximum = *std::max_element(row, row + n);
        double sum = 0;
        for (std::int64_t i = 0; i < n; ++i) sum += std::exp(row[i] - maximum);
        for (std::int64_t i = 0; i < n; ++i) {
          const double expected = std::exp(row[i] - maximum) / sum;
          // x - max errs by a rounding of at most 16; exponentials by 2; the sum by n / 16
          // additions and 2 for the quotient
          const double tolerance =
              kRounding * (16 + 2 + 2 + static_cast<double>(n) / 16 + 4 + 2) * expected;
          ASSERT_NEAR(y[r * n + i], expected, tolerance) << "n " << n;
        }
      }
    }
  });
}

TEST(Softmax, RowsSumToOne) {
  for_each_target([] {
    constexpr std::int64_t kRows = 300;
    constexpr std::int64_t kWidth = 257;
    const auto y = softmax_of(kRows, kWidth, random_floats(kRows * kWidth, 1, -30.0, 30.0));
    for (std::int64_t r = 0; r < kRows; ++r) {
      double sum = 0;
      for (std::int64_t i = 0; i < kWidth; ++i) sum += y[r * kWidth + i];
      ASSERT_NEAR(sum, 1.0, kWidth * kRounding);
    }
  });
}

TEST(Softmax, MaskedEntriesAreExactlyZero) {
  for_each_target([] {
    for (const float mask : {-3.4e38f, -kInfinity}) {
      std::vector<float> x(37, mask);
      x[3] = 1.0f;
      x[20] = 1.0f;
      const auto y = softmax_of(1, 37, x);
      for (int i = 0; i < 37; ++i) ASSERT_EQ(y[i], i == 3 || i == 20 ? 0.5f : 0.0f);
    }
  });
}

TEST(Softmax, RowOfTheLowestFloatsIsUniform) {
  for_each_target([] {
    for (const float y : softmax_of(1, 16, std::vector<float>(16, -3.4e38f)))
      ASSERT_EQ(y, 1.0f / 16);
  });
}

TEST(Softmax, RowsWithoutFiniteMaximumAreNan) {
  for_each_target([] {
    std::vector<float> with_nan(21, 0.0f);
    with_nan[20] = kNan;
    std::vector<float> with_infinity(21, 0.0f);
    with_infinity[1] = kInfinity;
    EXPECT_TRUE(std::isnan(softmax_of(1, 21, with_infinity)[1]));
    for (const auto& x : {std::vector<float>(21, -kInfinity), with_nan}) {
      for (const float y : softmax_of(1, 21, x)) ASSERT_TRUE(std::isnan(y));
    }
  });
}

TEST(SoftmaxGradient, AgreesWithDoubles) {
  for_each_target([] {
    for (const std::int64_t n : kOddSizes) {
      constexpr std::int64_t kRows = 4;
      const auto y = softmax_of(kRows, n, random_floats(kRows * n, 1, -3.0, 3.0));
      const auto dy = random_floats(kRows * n, 2);
      const auto dx = same_for_any_threads([&](ThreadPool& pool) {
        std::vector<float> result(y.size());
        softmax_gradient(pool, kRows, n, y.data(), dy.data(), result.data());
        return result;
      });
      for (std::int64_t r = 0; r < kRows; ++r) {
        double dot = 0;
        for (std::int64_t i = r * n; i < (r + 1) * n; ++i) dot += double{y[i]} * dy[i];
        // |dot| < 1 errs by its product and n / 16 additions; the difference and the product by one
        // rounding of at most 2
        const double tolerance = kRounding * (static_cast<double>(n) / 16 + 10);
        for (std::int64_t i = r * n; i < (r + 1) * n; ++i)
          ASSERT_NEAR(dx[i], y[i] * (dy[i] - dot), tolerance * y[i]);
      }
    }
  });
}

}  // namespace
}  // namespace hone::kernels
