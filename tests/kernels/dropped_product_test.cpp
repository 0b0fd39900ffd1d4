#include "hone/kernels/dropped_product.h"

#include "hone/kernels/dropout.h"
#include "tests/kernels/kernel_testing.h"

namespace hone::kernels {
namespace {

const RandomStream kStream{7, 9};

// Returns the first random word of each row. Rows belong to a larger tensor, so they are not consecutive.
std::vector<std::int64_t> words_of(std::int64_t rows, std::int64_t columns) {
  std::vector<std::int64_t> words;
  for (std::int64_t row = 0; row < rows; ++row) words.push_back((row + row / 5) * columns);
  return words;
}

std::vector<double> factors_of(double probability, const std::vector<std::int64_t>& words,
                               std::int64_t columns) {
  std::vector<double> factors;
  for (const std::int64_t word : words)
    for (std::int64_t k = 0; k < columns; ++k)
      factors.push_back(kStream.word(static_cast<std::uint64_t>(word + k)) >=
                                dropout_threshold(probability)
                            ? static_cast<double>(static_cast<float>(1 / (1 - probability)))
                            : 0);
  return factors;
}

// Blocks and chunks end anywhere. Sums of fused multiply-adds have the same bits for any number of threads.
TEST(DroppedProduct, IsTheProductOfWhatIsKept) {
  const std::int64_t outputs = 5;
  for (const auto& [rows, columns] : {std::pair<std::int64_t, std::int64_t>{1, 1},
                                      {7, 33},
                                      {1037, 66},
                                      {300, 1000},
                                      {20, 9001}}) {
    SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(columns));
    const auto words = words_of(rows, columns);
    const DroppedRows dropped{0.25, kStream, words, columns};
    const auto x = random_floats(rows * columns, 1), weight = random_floats(outputs * columns, 2),
               dy = random_floats(rows * outputs, 3);
    // y, then dx, then dweight.
    const auto got = same_for_any_threads([&](ThreadPool& pool) {
      std::vector<float> all(
          static_cast<std::size_t>(rows * outputs + rows * columns + outputs * columns)),
          workspace(
              static_cast<std::size_t>(dropped_product_workspace_floats(rows, columns, outputs)));
      float* const dx = all.data() + rows * outputs;
      dropped_product(pool, dropped, outputs, x.data(), weight.data(), all.data());
      dropped_product_gradient(pool, dropped, outputs, x.data(), weight.data(), dy.data(), dx,
                               dx + rows * columns, workspace.data());
      return all;
    });
    const auto factors = factors_of(0.25, words, columns);
    std::vector<double> expected(got.size());
    const auto at = [](std::int64_t i) { return static_cast<std::size_t>(i); };
    for (std::int64_t row = 0; row < rows; ++row)
      for (std::int64_t n = 0; n < outputs; ++n)
        for (std::int64_t k = 0; k < columns; ++k) {
          const std::int64_t i = row * columns + k, w = n * columns + k;
          const double left = static_cast<double>(x[at(i)]) * factors[at(i)];
          const double d = dy[at(row * outputs + n)];
          expected[at(row * outputs + n)] += left * static_cast<double>(weight[at(w)]);
          expected[at(rows * outputs + i)] +=
              d * static_cast<double>(weight[at(w)]) * factors[at(i)];
          expected[at(rows * outputs + rows * columns + w)] += d * left;
        }
    const double tolerance = 4 * kRounding * static_cast<double>(std::max(rows, columns)) + 1e-6;
    for (std::size_t i = 0; i < got.size(); ++i)
      ASSERT_NEAR(static_cast<double>(got[i]), expected[i], tolerance) << i;
  }
}

TEST(DroppedProduct, HasTheSameBitsOnAllFusedTargets) {
  const std::int64_t rows = 100, columns = 130, outputs = 8;
  const auto words = words_of(rows, columns);
  const auto x = random_floats(rows * columns, 1), weight = random_floats(outputs * columns, 2),
             dy = random_floats(rows * outputs, 3);
  ThreadPool pool(2);
  std::vector<std::vector<float>> found;
  for_each_target(
      [&] {
        std::vector<float> all(static_cast<std::size_t>(rows * columns + outputs * columns)),
            workspace(
                static_cast<std::size_t>(dropped_product_workspace_floats(rows, columns, outputs)));
        dropped_product_gradient(pool, {0.5, kStream, words, columns}, outputs, x.data(),
                                 weight.data(), dy.data(), all.data(), all.data() + rows * columns,
                                 workspace.data());
        found.push_back(all);
      },
      kFusedTargets);
  for (const auto& one : found) EXPECT_TRUE(same_bits(one, found[0]));
}

}  // namespace
}  // namespace hone::kernels
