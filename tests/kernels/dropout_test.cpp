#include "hone/kernels/dropout.h"

#include <array>

#include "tests/kernels/kernel_testing.h"

namespace hone::kernels {
namespace {

std::vector<float> dropout_of(double probability, const RandomStream& stream,
                              const std::vector<float>& x) {
  return same_for_any_target([&](ThreadPool& pool) {
    std::vector<float> y(x.size());
    const std::int64_t shape[] = {static_cast<std::int64_t>(x.size())}, strides[] = {1};
    dropout(pool, probability, stream, shape, strides, x.data(), y.data());
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

// Rows of any length that begin anywhere in a block of random words, single elements, and long runs.
TEST(Dropout, DrawsTheWordsOfAPlaceInALargerTensor) {
  struct Layout {
    std::array<std::int64_t, 3> shape;
    std::array<std::int64_t, 3> strides;
  };
  const RandomStream stream{7, 9};
  for (const auto& [shape, strides] :
       {Layout{{3, 5, 37}, {512 * 512, 512, 1}}, Layout{{2, 70, 13}, {1001, 13, 1}},
        Layout{{4, 3, 1}, {60, 15, 1}}, Layout{{5, 1, 1}, {33, 3, 1}},
        Layout{{2, 301, 301}, {400 * 303, 303, 1}}, Layout{{2, 9, 66}, {1 << 20, 66, 1}},
        Layout{{3, 0, 4}, {8, 4, 1}}}) {
    const auto x = random_floats(shape[0] * shape[1] * shape[2], 1);
    const auto y = same_for_any_target([&, &shape = shape, &strides = strides](ThreadPool& pool) {
      std::vector<float> result(x.size());
      dropout(pool, 0.5, stream, shape, strides, x.data(), result.data());
      return result;
    });
    std::size_t at = 0;
    for (std::int64_t i = 0; i < shape[0]; ++i) {
      for (std::int64_t j = 0; j < shape[1]; ++j) {
        for (std::int64_t k = 0; k < shape[2]; ++k, ++at) {
          const auto word = stream.word(
              static_cast<std::uint64_t>(i * strides[0] + j * strides[1] + k * strides[2]));
          ASSERT_EQ(y[at], word >= 0x80000000u ? 2 * x[at] : 0.0f) << i << ", " << j << ", " << k;
        }
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
