#include "hone/kernels/embedding.h"

#include "tests/kernels/kernel_testing.h"

namespace hone::kernels {
namespace {

std::vector<std::int64_t> random_ids(std::int64_t count, std::int64_t rows) {
  RandomSequence random(5, 1);
  std::vector<std::int64_t> ids(static_cast<std::size_t>(count));
  for (std::int64_t& id : ids) id = static_cast<std::int64_t>(random.below(rows));
  return ids;
}

TEST(GatherRows, CopiesRows) {
  for (const std::int64_t width : {1, 3, 17, 128}) {
    const auto table = random_floats(50 * width, 1);
    const auto ids = random_ids(1000, 50);
    const auto y = same_for_any_threads([&](ThreadPool& pool) {
      std::vector<float> result(1000 * width);
      gather_rows(pool, width, table.data(), 1000, ids.data(), result.data());
      return result;
    });
    for (std::int64_t i = 0; i < 1000 * width; ++i)
      ASSERT_EQ(y[i], table[ids[i / width] * width + i % width]);
  }
}

TEST(GatherRowsGradient, AddsInTheOrderOfPositions) {
  for (const std::int64_t width : {1, 3, 17, 128}) {
    for (const std::int64_t rows : {1, 7, 3000}) {
      constexpr std::int64_t kCount = 2000;
      const auto ids = random_ids(kCount, rows);
      const auto dy = random_floats(kCount * width, 2);
      const auto got = same_for_any_threads([&](ThreadPool& pool) {
        std::vector<float> result(rows * width, 9.0f);
        gather_rows_gradient(pool, rows, width, kCount, ids.data(), dy.data(), result.data());
        return result;
      });
      std::vector<float> expected(rows * width);
      for (std::int64_t i = 0; i < kCount * width; ++i)
        expected[ids[i / width] * width + i % width] += dy[i];
      ASSERT_EQ(got, expected) << "width " << width << ", rows " << rows;
    }
  }
}

TEST(GatherRowsGradient, IsZeroWithoutIds) {
  ThreadPool pool(1);
  std::vector<float> dtable(6, 9.0f);
  gather_rows_gradient(pool, 3, 2, 0, nullptr, nullptr, dtable.data());
  EXPECT_EQ(dtable, std::vector<float>(6, 0.0f));
}

}  // namespace
}  // namespace hone::kernels
