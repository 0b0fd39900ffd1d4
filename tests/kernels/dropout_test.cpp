#include "hone/kernels/dropout.h"

#include "tests/kernels/kernel_testing.h"

namespace hone::kernels {
namespace {

std::vector<float> dropout_of(double probability, const RandomStream& stream,
                              const std::vector<float>& x) {
  return same_for_any_target([&](ThreadPool& pool) {
    std::vector<float> y(x.size());
    dropout(pool, probability, stream, static_cast<std::int64_t>(x.size()), x.data(), y.data());
    return y;
  });
}

TEST(Dropout, DrawsTheWordsOfTheStream) {
  const RandomStream stream{0x0123456789abcdefu, 0xfedcba9876543210u};
  for (const std::int64_t n : {1, 3, 4, 5, 15, 16, 17, 31, 33, 63, 65, 1000, 70'003}) {
    for (const double probability : {0.0, 0.1, 0.5, 0.999}) {
      const auto x = random_floats(n, 1);
      const auto y = dropout_of(probability, stream, x);
      const auto factor = static_cast<float>(1.0 / (1.0 - probability));
      for (std::int64_t i = 0; i < n; ++i) {
        const bool keep = stream.word(i) >= dropout_threshold(probability);
        ASSERT_EQ(y[i], keep ? x[i] * factor : 0.0f)
            << "element " << i << " of " << n << ", p " << probability;
      }
    }
  }
}

TEST(Dropout, ProbabilityZeroKeepsEverything) {
  const auto x = random_floats(1000, 2);
  EXPECT_EQ(dropout_of(0.0, {1, 2}, x), x);
}

TEST(Dropout, ProbabilityOneKeepsNothing) {
  const auto x = random_floats(1000, 2);
  EXPECT_EQ(dropout_of(1.0, {1, 2}, x), std::vector<float>(1000, 0.0f));
}

TEST(Dropout, DroppedValuesAreZeroEvenWhereInfinite) {
  const auto y = dropout_of(0.5, {1, 2}, std::vector<float>(100, kInfinity));
  for (const float value : y) EXPECT_TRUE(value == 0.0f || value == kInfinity);
}

TEST(Dropout, ThresholdIsTheNearestFraction) {
  EXPECT_EQ(dropout_threshold(0.0), 0u);
  EXPECT_EQ(dropout_threshold(0.5), 0x80000000u);
  EXPECT_EQ(dropout_threshold(0.1), 429496730u);
  EXPECT_EQ(dropout_threshold(std::nextafter(1.0, 0.0)), 0xffffffffu);
  EXPECT_THROW(dropout_threshold(1.0), InternalError);
}

}  // namespace
}  // namespace hone::kernels
