#include "hone/kernels/adamw.h"

#include "tests/kernels/kernel_testing.h"

namespace hone::kernels {
namespace {

// n parameters with their gradients and moments.
struct State {
  std::vector<float> gradient;
  std::vector<float> parameter;
  std::vector<float> m;
  std::vector<float> v;

  explicit State(std::int64_t n)
      : gradient(random_floats(n, 1)),
        parameter(random_floats(n, 2)),
        m(random_floats(n, 3)),
        v(random_floats(n, 4, 0.0, 1.0)) {}
};

TEST(AdamW, AgreesWithDoubles) {
  const AdamW adamw{
      .learning_rate = 0.01, .beta1 = 0.9, .beta2 = 0.99, .eps = 1e-6, .weight_decay = 0.1};
  constexpr std::int64_t kStep = 7;
  constexpr double kScale = 0.25;
  for_each_target([&] {
    for (const std::int64_t n : {1, 15, 16, 17, 1000, 70'000}) {
      const State before(n);
      const auto after = same_for_any_threads([&](ThreadPool& pool) {
        State state(n);
        adamw_step(pool, adamw, kStep, kScale, n, state.gradient.data(), state.parameter.data(),
                   state.m.data(), state.v.data());
        std::vector<float> all = state.parameter;
        all.insert(all.end(), state.m.begin(), state.m.end());
        all.insert(all.end(), state.v.begin(), state.v.end());
        return all;
      });
      for (std::int64_t i = 0; i < n; ++i) {
        const double g = kScale * before.gradient[i];
        const double m = before.m[i] + (1 - adamw.beta1) * (g - before.m[i]);
        const double v = adamw.beta2 * before.v[i] + (1 - adamw.beta2) * g * g;
        const double m_unbiased = m / (1 - std::pow(adamw.beta1, kStep));
        const double v_unbiased = v / (1 - std::pow(adamw.beta2, kStep));
        const double update =
            adamw.learning_rate * m_unbiased / (std::sqrt(v_unbiased) + adamw.eps);
        const double parameter =
            before.parameter[i] * (1 - adamw.learning_rate * adamw.weight_decay) - update;
        // one rounding for every operation and rounded factor
        ASSERT_NEAR(after[n + i], m, 6 * kRounding);
        ASSERT_NEAR(after[2 * n + i], v, 6 * kRounding);
        ASSERT_NEAR(after[i], parameter,
                    kRounding * (4 + 20 * std::abs(update)) + 6 * kRounding * std::abs(update / m));
      }
    }
  });
}

TEST(AdamW, FirstStepMovesByTheLearningRate) {
  // with m = v = 0 the unbiased moments are g and g^2
  ThreadPool pool(1);
  const std::vector<float> gradient = {0.5f, -3.0f};
  std::vector<float> parameter = {1.0f, 1.0f};
  std::vector<float> m(2);
  std::vector<float> v(2);
  adamw_step(pool, {.learning_rate = 0.125, .weight_decay = 0.0}, 1, 1.0, 2, gradient.data(),
             parameter.data(), m.data(), v.data());
  EXPECT_NEAR(parameter[0], 0.875, 1e-6);
  EXPECT_NEAR(parameter[1], 1.125, 1e-6);
}

// A row whose gradient stays zero: m decreases by a tenth and v by a thousandth with every step.
TEST(AdamW, KeepsNoMomentsTooSmallForANormalFloat) {
  for_each_target([] {
    for (const std::int64_t n : {1, 16, 21}) {
      ThreadPool pool(1);
      const auto size = static_cast<std::size_t>(n);
      const std::vector<float> gradient(size, 0.0f);
      std::vector<float> parameter(size, 1.0f), m(size, -1e-36f), v(size, 1.2e-38f);
      for (std::int64_t step = 1; step <= 100; ++step) {
        adamw_step(pool, {}, step, 1.0, n, gradient.data(), parameter.data(), m.data(), v.data());
        for (const auto* moments : {&m, &v})
          for (const float value : *moments)
            ASSERT_TRUE(value == 0 || std::isnormal(value)) << value << " after step " << step;
      }
      EXPECT_EQ(m, gradient);
      EXPECT_EQ(v, gradient);
    }
  });
}

// Elements that never had a gradient stay unchanged, despite weight decay. Zeros among other gradients do not stop
// these.
TEST(AdamW, LeavesWhatNeverHadAGradient) {
  constexpr std::int64_t kCount = 4 * 16 + 3, kMoving = 35;
  for (const double decay : {0.0, 0.25}) {
    for_each_target([&] {
      ThreadPool pool(1);
      std::vector<float> gradient(kCount), parameter(kCount, 1.5f), m(kCount), v(kCount);
      gradient[kMoving] = 0.5f;
      adamw_step(pool, {.learning_rate = 0.125, .weight_decay = decay}, 1, 1.0, kCount,
                 gradient.data(), parameter.data(), m.data(), v.data());
      const auto decayed = static_cast<float>(1.5 * (1 - 0.125 * decay));
      for (std::int64_t i = 0; i < kCount; ++i) {
        EXPECT_EQ(m[i] != 0 && v[i] != 0, i == kMoving) << i;
        if (i == kMoving) continue;
        EXPECT_EQ(parameter[i], decayed) << i;
      }
      EXPECT_NEAR(parameter[kMoving], decayed - 0.125f, 1e-6);
    });
  }
}

TEST(AdamW, LeavesNanInTheMoments) {
  ThreadPool pool(1);
  const float gradient = kNan;
  float parameter = 1, m = 0, v = 0;
  adamw_step(pool, {}, 1, 1.0, 1, &gradient, &parameter, &m, &v);
  EXPECT_TRUE(std::isnan(m) && std::isnan(v) && std::isnan(parameter));
}

// 1 - learning_rate weight_decay rounds to 1 for this rate. The step of 16.45 units in the last place and the decay of
// 0.16 add up to 16.61, which rounds to 17.
TEST(AdamW, DecaysAtSmallRates) {
  constexpr double kUnit = 0x1p-24;  // the last place below 1
  const AdamW adamw{.learning_rate = 16.45 * kUnit, .eps = 0.0, .weight_decay = 0.01};
  for_each_target([&] {
    ThreadPool pool(1);
    const float gradient = 0.5f;
    float parameter = 1, m = 0, v = 0;
    adamw_step(pool, adamw, 1, 1.0, 1, &gradient, &parameter, &m, &v);
    EXPECT_EQ((1.0 - double{parameter}) / kUnit, 17.0);
  });
}

TEST(AdamW, CountsStepsFromOne) {
  ThreadPool pool(1);
  float x = 0.0f;
  EXPECT_THROW(adamw_step(pool, {}, 0, 1.0, 1, &x, &x, &x, &x), InternalError);
}

TEST(SumOfSquares, AgreesWithDoubles) {
  for_each_target([] {
    for (const std::int64_t n : {0, 1, 7, 8, 17, 1000, 200'001}) {
      const auto x = random_floats(n, 5, -1e4, 1e4);
      const auto sum = same_for_any_threads(
          [&](ThreadPool& pool) { return std::vector<double>{sum_of_squares(pool, n, x.data())}; });
      double expected = 0;
      for (const float value : x) expected += double{value} * value;
      EXPECT_NEAR(sum[0], expected, 1e-11 * expected);  // n roundings of doubles
    }
  });
}

}  // namespace
}  // namespace hone::kernels
