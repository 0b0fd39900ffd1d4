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
