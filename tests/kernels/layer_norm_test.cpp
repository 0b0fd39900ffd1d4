#include "hone/kernels/layer_norm.h"

#include "tests/kernels/kernel_testing.h"

namespace hone::kernels {
namespace {

constexpr float kEps = 1e-12f;

struct Problem {
  std::int64_t rows;
  std::int64_t c;
  std::vector<float> x = random_floats(rows * c, 1, -2.0, 3.0);
  std::vector<float> gamma = random_floats(c, 2);
  std::vector<float> beta = random_floats(c, 3);
  std::vector<float> dy = random_floats(rows * c, 4);
};

// xhat and 1 / sqrt(variance + eps) in double.
struct ExpectedNorm {
  std::vector<double> xhat;
  std::vector<double> reciprocal_deviation;

  explicit ExpectedNorm(const Problem& problem) {
    for (std::int64_t r = 0; r < problem.rows; ++r) {
      const float* const row = problem.x.data() + r * problem.c;
      double mean = 0;
      for (std::int64_t i = 0; i < problem.c; ++i) mean += row[i] / static_cast<double>(problem.c);
      double variance = 0;
      for (std::int64_t i = 0; i < problem.c; ++i) variance += (row[i] - mean) * (row[i] - mean);
      reciprocal_deviation.push_back(1 /
                                     std::sqrt(variance / static_cast<double>(problem.c) + kEps));
      for (std::int64_t i = 0; i < problem.c; ++i)
        xhat.push_back((row[i] - mean) * reciprocal_deviation.back());
    }
  }
};

// Sums of c terms in 4 or more lanes have an error of at most c / 16 + 6 roundings of their absolute terms. Values of x
// below 3 with standard deviation 1.4 give means with twice that error, and xhat below 3. A generous factor of 16
// covers all products.
double tolerance_for(std::int64_t c) { return 16 * kRounding * (static_cast<double>(c) / 16 + 6); }

std::vector<float> layer_norm_of(const Problem& problem) {
  return same_for_any_threads([&](ThreadPool& pool) {
    std::vector<float> y(problem.x.size());
    layer_norm(pool, problem.rows, problem.c, problem.x.data(), problem.gamma.data(),
               problem.beta.data(), kEps, y.data());
    return y;
  });
}

// Returns dx, dgamma and dbeta, concatenated.
std::vector<float> gradients_of(const Problem& problem) {
  return same_for_any_threads([&](ThreadPool& pool) {
    std::vector<float> result((problem.rows + 2) * problem.c, 7.0f);
    float* const dx = result.data();
    float* const dgamma = dx + problem.rows * problem.c;
    layer_norm_gradient(pool, problem.rows, problem.c, problem.x.data(), problem.gamma.data(), kEps,
                        problem.dy.data(), dx, dgamma, dgamma + problem.c);
    return result;
  });
}

TEST(LayerNorm, AgreesWithDoubles) {
  for_each_target([] {
    for (const std::int64_t c : {3, 15, 16, 17, 31, 127, 128, 768, 1000}) {
      const Problem problem{7, c};
      const ExpectedNorm expected(problem);
      const auto y = layer_norm_of(problem);
      for (std::int64_t i = 0; i < 7 * c; ++i) {
        const double want = expected.xhat[i] * problem.gamma[i % c] + problem.beta[i % c];
        ASSERT_NEAR(y[i], want, tolerance_for(c) * expected.reciprocal_deviation[i / c])
            << "c " << c;
      }
    }
  });
}

TEST(LayerNorm, KeepsItsPrecisionFarFromZero) {
  // a mean of 4096 with deviation 1: a single pass over squares would lose 24 bits of the variance
  Problem problem{1, 64};
  for (int i = 0; i < 64; ++i) problem.x[i] = i % 2 == 0 ? 4095.0f : 4097.0f;
  for_each_target([&] {
    const auto y = layer_norm_of(problem);
    for (int i = 0; i < 64; ++i) {
      ASSERT_NEAR(y[i], (i % 2 == 0 ? -problem.gamma[i] : problem.gamma[i]) + problem.beta[i],
                  4 * kRounding);
    }
  });
}

TEST(LayerNorm, ConstantRowGivesBeta) {
  Problem problem{1, 20};
  problem.x.assign(20, 3.0f);
  for_each_target([&] { EXPECT_EQ(layer_norm_of(problem), problem.beta); });
}

TEST(LayerNormGradient, AgreesWithDoubles) {
  for_each_target([] {
    for (const std::int64_t c : {3, 16, 17, 127, 768}) {
      const Problem problem{300, c};
      const ExpectedNorm expected(problem);
      const auto got = gradients_of(problem);
      std::vector<double> dgamma(c);
      std::vector<double> dbeta(c);
      for (std::int64_t r = 0; r < problem.rows; ++r) {
        const double* const xhat = expected.xhat.data() + r * c;
        const float* const dy = problem.dy.data() + r * c;
        double mean_g = 0;
        double mean_g_xhat = 0;
        for (std::int64_t i = 0; i < c; ++i) {
          const double g = double{dy[i]} * problem.gamma[i];
          mean_g += g / static_cast<double>(c);
          mean_g_xhat += g * xhat[i] / static_cast<double>(c);
          dgamma[i] += dy[i] * xhat[i];
          dbeta[i] += dy[i];
        }
        for (std::int64_t i = 0; i < c; ++i) {
          const double g = double{dy[i]} * problem.gamma[i];
          const double want =
              expected.reciprocal_deviation[r] * (g - mean_g - xhat[i] * mean_g_xhat);
          const double scale = std::max(1.0, expected.reciprocal_deviation[r]);
          ASSERT_NEAR(got[r * c + i], want, 4 * tolerance_for(c) * scale * scale) << "c " << c;
        }
      }
      for (std::int64_t i = 0; i < c; ++i) {
        // a sum of 300 terms below 3, each with the error of xhat
        ASSERT_NEAR(got[300 * c + i], dgamma[i], 300 * tolerance_for(c) + 300 * 300 * kRounding);
        ASSERT_NEAR(got[301 * c + i], dbeta[i], 300 * 300 * kRounding);
      }
    }
  });
}

}  // namespace
}  // namespace hone::kernels
