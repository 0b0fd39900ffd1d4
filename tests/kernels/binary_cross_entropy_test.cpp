#include "hone/kernels/binary_cross_entropy.h"

#include "tests/kernels/kernel_testing.h"

namespace hone::kernels {
namespace {

using Floats = std::vector<float>;

float loss(const Floats& logits, const Floats& targets) {
  ThreadPool pool(1);
  return binary_cross_entropy(pool, std::ssize(logits), logits.data(), targets.data());
}

float slope(float logit, float target) {
  ThreadPool pool(1);
  float gradient = 9;
  binary_cross_entropy_gradient(pool, 1, &logit, &target, 1.0f, &gradient);
  return gradient;
}

TEST(BinaryCrossEntropy, LossAndGradientAgreeWithDoubles) {
  for_each_target([] {
    for (const std::int64_t n : {1, 7, 33, 1000, 100'003}) {
      constexpr float kSlope = 0.5f;
      const auto x = random_floats(n, 1, -12.0, 12.0), y = random_floats(n, 2, 0.0, 1.0);
      const auto found = same_for_any_threads([&](ThreadPool& pool) {
        return Floats{binary_cross_entropy(pool, n, x.data(), y.data())};
      });
      const auto gradient = same_for_any_threads([&](ThreadPool& pool) {
        Floats result(x.size(), 9.0f);
        binary_cross_entropy_gradient(pool, n, x.data(), y.data(), kSlope, result.data());
        return result;
      });
      const double count = static_cast<double>(n);
      double expected = 0;
      for (std::size_t i = 0; i < x.size(); ++i) {
        const double logit = x[i], target = y[i];
        expected +=
            (std::max(logit, 0.0) - logit * target + std::log1p(std::exp(-std::abs(logit)))) /
            count;
        const double want = kSlope / count * (1 / (1 + std::exp(-logit)) - target);
        // an exponential, a sum, a quotient and a difference of numbers up to 1
        ASSERT_NEAR(gradient[i], want, 8 * kRounding * kSlope / count) << n;
      }
      // terms up to 12 are rounded a few times
      EXPECT_NEAR(found[0], expected, 4 * kRounding * (1 + expected)) << n;
    }
  });
}

// If the prediction meets the target, only the logarithm remains, so small losses keep their digits.
TEST(BinaryCrossEntropy, KeepsTheDigitsOfSmallLosses) {
  for_each_target([] {
    for (float x = 0; x < 80; x += 0.37f) {
      const double expected = std::log1p(std::exp(-double{x}));
      EXPECT_NEAR(loss({x}, {1}), expected, 8 * kRounding * expected) << x;
      EXPECT_NEAR(loss({-x}, {0}), expected, 8 * kRounding * expected) << x;
    }
  });
}

TEST(BinaryCrossEntropy, StaysFiniteForLargeLogits) {
  EXPECT_EQ(loss({1e30f}, {1}), 0);
  EXPECT_EQ(loss({-1e30f}, {1}), 1e30f);
  EXPECT_EQ(slope(1e30f, 0), 1);
  EXPECT_EQ(slope(1e30f, 1), 0);
  EXPECT_EQ(slope(-1e30f, 1), -1);
  EXPECT_EQ(slope(-1e30f, 0), 0);
}

TEST(BinaryCrossEntropy, OfNanIsNan) {
  EXPECT_TRUE(std::isnan(loss({1, kNan}, {1, 1})));
  EXPECT_TRUE(std::isnan(slope(kNan, 1)));
  EXPECT_TRUE(std::isnan(loss({}, {})));
}

}  // namespace
}  // namespace hone::kernels
