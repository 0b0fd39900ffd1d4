#include "hone/kernels/cross_entropy.h"

#include "tests/kernels/kernel_testing.h"

namespace hone::kernels {
namespace {

std::vector<std::int64_t> labels_for(std::int64_t rows, std::int64_t classes) {
  RandomSequence random(3, 1);
  std::vector<std::int64_t> labels(static_cast<std::size_t>(rows));
  for (std::int64_t& label : labels) label = static_cast<std::int64_t>(random.below(classes));
  if (rows > 2) labels[1] = kIgnoredLabel;
  return labels;
}

double log_of_sum(const float* row, std::int64_t classes) {
  double sum = 0;
  for (std::int64_t i = 0; i < classes; ++i) sum += std::exp(double{row[i]});
  return std::log(sum);
}

TEST(CrossEntropy, LossAndGradientAgreeWithDoubles) {
  for_each_target([] {
    for (const std::int64_t classes : {2, 3, 16, 17, 1000}) {
      constexpr std::int64_t kRows = 50;
      constexpr double kCounted = kRows - 1;
      constexpr float kSlope = 0.5f;
      const auto logits = random_floats(kRows * classes, 1, -5.0, 5.0);
      const auto labels = labels_for(kRows, classes);
      const auto loss = same_for_any_threads([&](ThreadPool& pool) {
        return std::vector<float>{
            cross_entropy(pool, kRows, classes, logits.data(), labels.data())};
      });
      const auto gradient = same_for_any_threads([&](ThreadPool& pool) {
        std::vector<float> result(logits.size(), 9.0f);
        cross_entropy_gradient(pool, kRows, classes, logits.data(), labels.data(), kSlope,
                               result.data());
        return result;
      });
      // exponents below 10 have a rounding error, sums that of classes / 16 additions
      const double relative = kRounding * (20 + static_cast<double>(classes) / 16);
      double expected = 0;
      for (std::int64_t r = 0; r < kRows; ++r) {
        const float* const row = logits.data() + r * classes;
        const bool ignored = labels[r] == kIgnoredLabel;
        const double log_sum = log_of_sum(row, classes);
        if (!ignored) expected += (log_sum - row[labels[r]]) / kCounted;
        for (std::int64_t i = 0; i < classes; ++i) {
          const double probability = std::exp(row[i] - log_sum);
          const double want = ignored ? 0 : kSlope / kCounted * (probability - (i == labels[r]));
          ASSERT_NEAR(gradient[r * classes + i], want, relative / kCounted)
              << "classes " << classes;
        }
      }
      EXPECT_NEAR(loss[0], expected, relative + kRounding * expected) << "classes " << classes;
    }
  });
}

TEST(CrossEntropy, WeighsRowsByTheirClasses) {
  ThreadPool pool(1);
  constexpr std::int64_t kRows = 50, kClasses = 17;
  const auto logits = random_floats(kRows * kClasses, 1, -5.0, 5.0);
  const auto labels = labels_for(kRows, kClasses);
  const auto weights = random_floats(kClasses, 2, 0.1, 9.0);
  const float loss =
      cross_entropy(pool, kRows, kClasses, logits.data(), labels.data(), weights.data());
  std::vector<float> gradient(logits.size(), 9.0f);
  cross_entropy_gradient(pool, kRows, kClasses, logits.data(), labels.data(), 1.0f, gradient.data(),
                         weights.data());
  double sum = 0, sum_of_weights = 0;
  for (std::int64_t r = 0; r < kRows; ++r) {
    if (labels[r] == kIgnoredLabel) continue;
    const float* const row = logits.data() + r * kClasses;
    sum += weights[labels[r]] * (log_of_sum(row, kClasses) - row[labels[r]]);
    sum_of_weights += weights[labels[r]];
  }
  const double relative = kRounding * (20 + kClasses / 16.0);
  EXPECT_NEAR(loss, sum / sum_of_weights, relative * (1 + sum / sum_of_weights));
  for (std::int64_t r = 0; r < kRows; ++r) {
    const float* const row = logits.data() + r * kClasses;
    const double weight = labels[r] == kIgnoredLabel ? 0 : weights[labels[r]] / sum_of_weights;
    for (std::int64_t i = 0; i < kClasses; ++i) {
      const double probability = std::exp(row[i] - log_of_sum(row, kClasses));
      ASSERT_NEAR(gradient[r * kClasses + i], weight * (probability - (i == labels[r])),
                  relative * weight)
          << "row " << r << ", class " << i;
    }
  }
}

TEST(CrossEntropy, OfIgnoredRowsAloneIsNanWithoutGradient) {
  ThreadPool pool(1);
  const std::vector<float> logits = {1, 2, 3, 4};
  const std::vector<std::int64_t> labels = {kIgnoredLabel, kIgnoredLabel};
  std::vector<float> gradient(4, 9.0f);
  EXPECT_TRUE(std::isnan(cross_entropy(pool, 2, 2, logits.data(), labels.data())));
  cross_entropy_gradient(pool, 2, 2, logits.data(), labels.data(), 1.0f, gradient.data());
  EXPECT_EQ(gradient, std::vector<float>(4, 0.0f));
}

TEST(CrossEntropy, StaysFiniteForLargeLogits) {
  ThreadPool pool(1);
  const std::vector<float> logits = {1000.0f, 0.0f};
  const std::int64_t label = 1;
  EXPECT_EQ(cross_entropy(pool, 1, 2, logits.data(), &label), 1000.0f);
}

TEST(CrossEntropy, RefusesLabelsThatAreNoClass) {
  ThreadPool pool(1);
  const std::vector<float> logits(2);
  for (const std::int64_t label : {std::int64_t{2}, std::int64_t{-1}}) {
    EXPECT_THROW(cross_entropy(pool, 1, 2, logits.data(), &label), InternalError);
  }
}

}  // namespace
}  // namespace hone::kernels
