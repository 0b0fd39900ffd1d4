#include "hone/kernels/mean_squared_error.h"

#include "tests/kernels/kernel_testing.h"

namespace hone::kernels {
namespace {

TEST(MeanSquaredError, LossAndGradientAgreeWithDoubles) {
  for_each_target([] {
    for (const std::int64_t n : {1, 7, 33, 1000, 100'003}) {
      constexpr double kSlope = 0.5;
      const auto x = random_floats(n, 1, -5.0, 5.0), y = random_floats(n, 2, -5.0, 5.0);
      const auto loss = same_for_any_threads([&](ThreadPool& pool) {
        return std::vector<float>{mean_squared_error(pool, n, x.data(), y.data())};
      });
      const auto gradient = same_for_any_threads([&](ThreadPool& pool) {
        std::vector<float> result(x.size(), 9.0f);
        mean_squared_error_gradient(pool, n, x.data(), y.data(), kSlope, result.data());
        return result;
      });
      double sum = 0;
      const double scale = 2 * kSlope / static_cast<double>(n);
      for (std::size_t i = 0; i < x.size(); ++i) {
        const double error = double{x[i]} - double{y[i]};
        sum += error * error;
        // the difference, the factor and their product are rounded
        ASSERT_NEAR(gradient[i], scale * error, 4 * kRounding * scale * std::abs(error)) << n;
      }
      const double expected = sum / static_cast<double>(n);
      EXPECT_NEAR(loss[0], expected, 2 * kRounding * expected) << n;
    }
  });
}

TEST(MeanSquaredError, OfNothingIsNan) {
  ThreadPool pool(1);
  EXPECT_TRUE(std::isnan(mean_squared_error(pool, 0, nullptr, nullptr)));
}

}  // namespace
}  // namespace hone::kernels
