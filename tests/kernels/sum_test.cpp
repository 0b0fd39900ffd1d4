#include "hone/kernels/sum.h"

#include "tests/kernels/kernel_testing.h"

namespace hone::kernels {
namespace {

// Sums in double, and sums of absolute values.
struct ExpectedSums {
  std::vector<double> sums;
  std::vector<double> magnitudes;

  ExpectedSums(const Shape& shape, const std::vector<float>& x, const Shape& out_shape)
      : sums(elements_of(out_shape)), magnitudes(sums.size()) {
    for (std::int64_t i = 0; i < elements_of(shape); ++i) {
      std::int64_t at = 0;
      std::int64_t rest = i;
      std::int64_t stride = 1;
      for (std::size_t d = shape.size(); d-- > 0; rest /= shape[d]) {
        if (out_shape[d] != 1) at += rest % shape[d] * stride;
        stride *= out_shape[d];
      }
      sums[at] += x[i];
      magnitudes[at] += std::abs(x[i]);
    }
  }
};

void check(const Shape& shape, const Shape& out_shape) {
  SCOPED_TRACE(fmt::format("{} to {}", fmt::join(shape, ","), fmt::join(out_shape, ",")));
  const auto x = random_floats(elements_of(shape), 1);
  const ExpectedSums expected(shape, x, out_shape);
  const auto out = same_for_any_threads([&](ThreadPool& pool) {
    std::vector<float> result(elements_of(out_shape), 9.0f);
    sum_to(pool, shape, x.data(), out_shape, result.data());
    return result;
  });
  // at most as many roundings as terms, each of at most the sum of absolute values
  const double terms =
      static_cast<double>(elements_of(shape)) / static_cast<double>(elements_of(out_shape));
  for (std::size_t i = 0; i < out.size(); ++i) {
    ASSERT_NEAR(out[i], expected.sums[i], terms * kRounding * expected.magnitudes[i]) << "at " << i;
  }
}

TEST(SumTo, AgreesWithDoublesForAllSetsOfDimensions) {
  const Shape shape = {2, 3, 4, 5, 2, 3};
  for_each_target([&] {
    for (int summed = 0; summed < 64; ++summed) {
      Shape out_shape = shape;
      for (int d = 0; d < 6; ++d) {
        if (summed >> d & 1) out_shape[d] = 1;
      }
      check(shape, out_shape);
    }
  });
}

TEST(SumTo, AgreesWithDoublesForLargeSums) {
  for_each_target([] {
    for (const std::int64_t c : {1, 3, 17, 128, 1000}) check({1000, c}, {1, c});  // bias gradients
    check({3, 20'000}, {1, 20'000});  // more columns than partial sums
    check({500, 200}, {500, 1});      // row sums
    check({100'000}, {1});            // all elements
    check({3, 50, 7, 40}, {3, 1, 7, 1});
    check({3, 50, 7, 40}, {1, 50, 1, 40});
  });
}

TEST(SumTo, OfNothingIsZero) {
  ThreadPool pool(1);
  std::vector<float> out(3, 9.0f);
  sum_to(pool, Shape{0, 3}, nullptr, Shape{1, 3}, out.data());
  EXPECT_EQ(out, std::vector<float>(3, 0.0f));
}

TEST(SumTo, RefusesShapesThatDoNotFit) {
  ThreadPool pool(1);
  std::vector<float> x(6);
  std::vector<float> out(6);
  EXPECT_THROW(sum_to(pool, Shape{2, 3}, x.data(), Shape{2, 2}, out.data()), InternalError);
  EXPECT_THROW(sum_to(pool, Shape{2, 3}, x.data(), Shape{6}, out.data()), InternalError);
}

}  // namespace
}  // namespace hone::kernels
