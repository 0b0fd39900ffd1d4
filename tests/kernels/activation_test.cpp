#include "hone/kernels/activation.h"

#include <numbers>

#include "tests/kernels/kernel_testing.h"

namespace hone::kernels {
namespace {

using Forward = void (*)(ThreadPool&, std::int64_t, const float*, float*);
using Gradient = void (*)(ThreadPool&, std::int64_t, const float*, const float*, float*);

double normal_distribution(double x) { return 0.5 * std::erfc(-x * std::numbers::sqrt2 / 2); }
double normal_density(double x) { return std::exp(-0.5 * x * x) / std::sqrt(2 * std::numbers::pi); }
double gelu_tanh_argument(double x) {
  return std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x);
}

double gelu_erf_of(double x) { return x * normal_distribution(x); }
double gelu_erf_slope(double x) { return normal_distribution(x) + x * normal_density(x); }
double gelu_tanh_of(double x) { return 0.5 * x * (1 + std::tanh(gelu_tanh_argument(x))); }
double gelu_tanh_slope(double x) {
  const double t = std::tanh(gelu_tanh_argument(x));
  const double inner = std::sqrt(2 / std::numbers::pi) * (1 + 3 * 0.044715 * x * x);
  return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * inner;
}

// Returns values of all magnitudes, dense where the functions bend.
std::vector<float> arguments() {
  std::vector<float> x = random_floats(4000, 1, -10.0, 10.0);
  for (float magnitude = 1e-20f; magnitude < 1e20f; magnitude *= 1.37f) {
    x.push_back(magnitude);
    x.push_back(-magnitude);
  }
  x.push_back(0.0f);
  return x;
}

std::vector<float> activated(Forward forward, const std::vector<float>& x) {
  return same_for_any_threads([&](ThreadPool& pool) {
    std::vector<float> y(x.size());
    forward(pool, static_cast<std::int64_t>(x.size()), x.data(), y.data());
    return y;
  });
}

// |got - expected(x)| <= tolerance(x, expected(x)) for all x.
template <typename Expected, typename Tolerance>
void expect_near(const std::vector<float>& x, const std::vector<float>& got, Expected expected,
                 Tolerance tolerance) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double want = expected(double{x[i]});
    ASSERT_NEAR(got[i], want, tolerance(double{x[i]}, want)) << "at " << x[i];
  }
}

TEST(Activation, TanhErrsByLessThanFourTenMillionths) {
  const auto x = arguments();
  for_each_target([&] {
    expect_near(
        x, activated(kernels::tanh, x), [](double v) { return std::tanh(v); },
        [](double, double want) { return 4e-7 * std::abs(want); });
  });
}

TEST(Activation, GeluErfErrsByRoundingsOfItsArgument) {
  const auto x = arguments();
  for_each_target([&] {
    // erf has an error of 4e-7, below 7 kRounding, which is halved; rounding 1 + erf and the product add one each
    expect_near(x, activated(gelu_erf, x), gelu_erf_of,
                [](double v, double) { return 6 * kRounding * std::abs(v); });
  });
}

TEST(Activation, GeluTanhErrsByRoundingsOfItsArgument) {
  const auto x = arguments();
  for_each_target([&] {
    // u has an error of 4 roundings, and u (1 - tanh^2 u) is below 0.45; then half of the tanh's 7 kRounding, and two
    // more
    expect_near(x, activated(gelu_tanh, x), gelu_tanh_of,
                [](double v, double) { return 8 * kRounding * std::abs(v); });
  });
}

// Compares gradients of `gradient` for a dy of 1 and of -2 with slope(x).
template <typename Slope>
void check_gradient(Gradient gradient, Slope slope, double tolerance) {
  const auto x = arguments();
  for_each_target([&] {
    for (const float factor : {1.0f, -2.0f}) {
      const std::vector<float> dy(x.size(), factor);
      const auto dx = same_for_any_threads([&](ThreadPool& pool) {
        std::vector<float> result(x.size());
        gradient(pool, static_cast<std::int64_t>(x.size()), x.data(), dy.data(), result.data());
        return result;
      });
      expect_near(
          x, dx, [&](double v) { return factor * slope(v); },
          [&](double, double) { return tolerance * std::abs(factor); });
    }
  });
}

TEST(Activation, GeluErfGradientIsTheDerivative) {
  // the slope is below 1.13; its density term x phi(x) takes exp of an argument with one rounding, |x^2/2 x phi| < 0.5
  check_gradient(gelu_erf_gradient, gelu_erf_slope, 10 * kRounding);
}

TEST(Activation, GeluTanhGradientIsTheDerivative) {
  // 1 - t^2 has an error of 10 kRounding where |t| is near 1, times |x/2| u', at most 20 before the tanh becomes 1 (|x|
  // < 5.1)
  check_gradient(gelu_tanh_gradient, gelu_tanh_slope, 256 * kRounding);
}

TEST(Activation, TanhGradientUsesTheResult) {
  const auto y = random_floats(1000, 1);
  const auto dy = random_floats(1000, 2);
  for_each_target([&] {
    ThreadPool pool(1);
    std::vector<float> dx(1000);
    tanh_gradient(pool, 1000, y.data(), dy.data(), dx.data());
    for (int i = 0; i < 1000; ++i)
      ASSERT_NEAR(dx[i], dy[i] * (1 - double{y[i]} * y[i]), 2 * kRounding);
  });
}

TEST(Activation, ReluAndItsGradientAreExact) {
  const std::vector<float> x = {-1.0f, 0.0f, 2.0f, -kInfinity, kInfinity};
  const std::vector<float> dy = {1, 2, 3, 4, 5};
  for_each_target([&] {
    ThreadPool pool(1);
    std::vector<float> dx(5);
    EXPECT_EQ(activated(relu, x), (std::vector<float>{0, 0, 2, 0, kInfinity}));
    relu_gradient(pool, 5, x.data(), dy.data(), dx.data());
    EXPECT_EQ(dx, (std::vector<float>{0, 0, 3, 0, 5}));
  });
}

TEST(Activation, KeepsNanAndSaturatesAtInfinity) {
  const std::vector<float> x(19, kNan);
  for_each_target([&] {
    for (const Forward forward : {gelu_erf, gelu_tanh, kernels::tanh, relu}) {
      for (const float y : activated(forward, x)) ASSERT_TRUE(std::isnan(y));
    }
    EXPECT_EQ(activated(kernels::tanh, {kInfinity, -kInfinity}), (std::vector<float>{1, -1}));
    EXPECT_EQ(activated(gelu_erf, {kInfinity})[0], kInfinity);
    ThreadPool pool(1);
    const std::vector<float> one(1, 1.0f);
    for (const Gradient gradient : {gelu_erf_gradient, gelu_tanh_gradient}) {
      std::vector<float> dx(1);
      gradient(pool, 1, x.data(), one.data(), dx.data());
      EXPECT_TRUE(std::isnan(dx[0]));
      gradient(pool, 1, &kInfinity, one.data(), dx.data());
      EXPECT_EQ(dx[0], 1.0f);
    }
  });
}

TEST(Activation, AllSizesGiveTheSameValues) {
  for_each_target([&] {
    const auto x = random_floats(1000, 1, -4.0, 4.0);
    const auto whole = activated(gelu_erf, x);
    for (const std::int64_t n : kOddSizes) {
      const std::vector<float> part(x.begin(), x.begin() + n);
      EXPECT_EQ(activated(gelu_erf, part), std::vector<float>(whole.begin(), whole.begin() + n));
    }
    EXPECT_EQ(activated(gelu_erf, random_floats(100'000, 3)).size(), 100'000u);  // several chunks
  });
}

}  // namespace
}  // namespace hone::kernels
