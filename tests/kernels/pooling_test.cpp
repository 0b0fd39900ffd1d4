#include "hone/kernels/pooling.h"

#include <limits>

#include "tests/kernels/kernel_testing.h"

namespace hone::kernels {
namespace {

using Floats = std::vector<float>;

// Returns values among which many are equal, -infinity or NaN.
Floats few_values(std::int64_t count) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kValues[] = {
      -kInfinity, -kInfinity, 0, 1, 1, -2, kInfinity, std::numeric_limits<float>::quiet_NaN()};
  Floats values;
  for (const float random : random_floats(count, 3, 0, 8))
    values.push_back(kValues[static_cast<std::size_t>(random)]);
  return values;
}

// Computes dx by definition.
Floats gradient_of(const PoolingShape& s, const Floats& x, const Floats& dy) {
  Floats dx(x.size());
  std::size_t window = 0;
  for (std::int64_t plane = 0; plane < s.planes; ++plane)
    for (std::int64_t i = 0; i < s.result_height(); ++i)
      for (std::int64_t j = 0; j < s.result_width(); ++j, ++window) {
        std::ptrdiff_t best = -1;
        for (std::int64_t u = 0; u < s.kernel; ++u)
          for (std::int64_t v = 0; v < s.kernel; ++v) {
            const std::int64_t row = i * s.stride - s.padding + u,
                               column = j * s.stride - s.padding + v;
            if (row < 0 || row >= s.height || column < 0 || column >= s.width) continue;
            const std::ptrdiff_t at = (plane * s.height + row) * s.width + column;
            const float value = x[static_cast<std::size_t>(at)];
            if (best < 0 || value > x[static_cast<std::size_t>(best)] || std::isnan(value))
              best = at;
          }
        dx[static_cast<std::size_t>(best)] += dy[window];
      }
  return dx;
}

TEST(MaxPool, HandsItsGradientToTheFirstLargestValue) {
  ThreadPool pool(3);
  for (const PoolingShape& shape :
       {PoolingShape{.planes = 2, .height = 9, .width = 37, .kernel = 3, .stride = 2, .padding = 1},
        PoolingShape{.planes = 3, .height = 6, .width = 40, .kernel = 2, .stride = 1, .padding = 1},
        PoolingShape{.planes = 1, .height = 1, .width = 1, .kernel = 1},
        PoolingShape{
            .planes = 2, .height = 11, .width = 19, .kernel = 5, .stride = 3, .padding = 2}}) {
    const Floats x = few_values(shape.planes * shape.height * shape.width),
                 dy = random_floats(shape.planes * shape.result_height() * shape.result_width(), 4);
    const Floats wanted = gradient_of(shape, x, dy);
    for_each_target([&] {
      Floats dx(x.size(), 5);
      max_pool_gradient(pool, shape, x.data(), dy.data(), dx.data());
      EXPECT_TRUE(same_bits(dx, wanted)) << shape.width;
    });
  }
}

}  // namespace
}  // namespace hone::kernels
