#include "hone/kernels/elementwise.h"

#include "hone/kernels/loop_nest.h"
#include "tests/kernels/kernel_testing.h"

namespace hone::kernels {
namespace {

// Returns the offset of element `index`, counted in row-major order.
std::int64_t offset_of(const Shape& shape, const Shape& strides, std::int64_t index) {
  std::int64_t offset = 0;
  for (std::size_t d = shape.size(); d-- > 0; index /= shape[d])
    offset += index % shape[d] * strides[d];
  return offset;
}

// Returns how many elements an operand of these strides spans.
std::int64_t span_of(const Shape& shape, const Shape& strides) {
  std::int64_t last = 0;
  for (std::size_t d = 0; d < shape.size(); ++d) last += (shape[d] - 1) * strides[d];
  return last + 1;
}

struct Case {
  Shape shape;
  Shape x_strides;
  Shape y_strides;
};

const std::vector<Case> kCases = {
    {{}, {}, {}},                                                         // scalars
    {{1000}, {1}, {1}},                                                   // contiguous
    {{1000}, {1}, {0}},                                                   // with a scalar
    {{5, 17}, {17, 1}, {0, 1}},                                           // with a row
    {{5, 17}, {17, 1}, {1, 0}},                                           // with a column
    {{5, 17}, {0, 1}, {1, 0}},                                            // row by column
    {{7, 9}, {1, 7}, {9, 1}},                                             // transposed
    {{200, 300}, {300, 1}, {0, 1}},                                       // several chunks
    {{2, 3, 1, 5}, {15, 5, 5, 1}, {5, 0, 0, 1}},                          // a mask over heads
    {{2, 3, 2, 2, 3, 4}, {144, 48, 24, 12, 4, 1}, {1, 2, 0, 6, 12, 36}},  // rank 6
    {{3, 64, 4}, {600, 2, 150}, {256, 4, 1}},                             // no unit stride
};

using Kernel = void (*)(ThreadPool&, Extents, const Strided&, const Strided&, float*);

void check(Kernel kernel, float (*operation)(float, float)) {
  for (const auto& [shape, x_strides, y_strides] : kCases) {
    const auto x = random_floats(span_of(shape, x_strides), 1);
    const auto y = random_floats(span_of(shape, y_strides), 2);
    const auto out = same_for_any_target([&](ThreadPool& pool) {
      std::vector<float> result(elements_of(shape));
      kernel(pool, shape, {x.data(), x_strides}, {y.data(), y_strides}, result.data());
      return result;
    });
    for (std::int64_t i = 0; i < elements_of(shape); ++i) {
      ASSERT_EQ(out[i],
                operation(x[offset_of(shape, x_strides, i)], y[offset_of(shape, y_strides, i)]))
          << "element " << i << " of shape " << fmt::format("{}", fmt::join(shape, ","));
    }
  }
}

TEST(Elementwise, AddBroadcastsByStrides) {
  check(add, [](float a, float b) { return a + b; });
}

TEST(Elementwise, MultiplyBroadcastsByStrides) {
  check(multiply, [](float a, float b) { return a * b; });
}

TEST(Elementwise, AddMayOverwriteAnOperand) {
  ThreadPool pool(2);
  const Shape shape = {100'000};
  const Shape unit = {1};
  auto x = random_floats(100'000, 1);
  const auto before = x;
  add(pool, shape, {x.data(), unit}, {x.data(), unit}, x.data());
  for (std::size_t i = 0; i < x.size(); ++i) ASSERT_EQ(x[i], 2 * before[i]);
}

TEST(Elementwise, CopyMakesContiguous) {
  std::vector<Case> cases = kCases;
  cases.push_back({{2, 4, 19, 64}, {4 * 19 * 64, 64, 256, 1}, {}});  // tokens to heads
  cases.push_back({{2, 4, 64, 19}, {4 * 19 * 64, 64, 1, 256}, {}});  // and transposed
  cases.push_back({{301, 203}, {1, 301}, {}});                       // a large transpose
  cases.push_back(
      {{3, 70, 5, 33}, {70 * 5 * 33, 1, 70, 350}, {}});  // the first of three moved to the end
  cases.push_back({{3, 0, 5}, {5, 5, 1}, {}});           // no elements
  for (const Case& one : cases) {
    const auto x = random_floats(std::max<std::int64_t>(1, span_of(one.shape, one.x_strides)), 1);
    const auto out = same_for_any_target([&](ThreadPool& pool) {
      std::vector<float> result(elements_of(one.shape));
      copy(pool, one.shape, {x.data(), one.x_strides}, result.data());
      return result;
    });
    for (std::int64_t i = 0; i < elements_of(one.shape); ++i) {
      ASSERT_EQ(out[i], x[offset_of(one.shape, one.x_strides, i)])
          << fmt::format("{}", fmt::join(one.shape, ","));
    }
  }
}

TEST(Elementwise, ScaleAndFillCoverAllSizes) {
  for (const std::int64_t n : {0, 1, 15, 16, 17, 1000, 70'000}) {
    const auto x = random_floats(n, 1);
    const auto y = same_for_any_target([&](ThreadPool& pool) {
      std::vector<float> result(n);
      scale(pool, n, -0.3f, x.data(), result.data());
      return result;
    });
    for (std::int64_t i = 0; i < n; ++i) ASSERT_EQ(y[i], -0.3f * x[i]);
    ThreadPool pool(2);
    std::vector<float> filled(n + 1);
    fill(pool, n, 2.5f, filled.data());
    EXPECT_EQ(std::count(filled.begin(), filled.end(), 2.5f), n);
    EXPECT_EQ(filled.back(), 0.0f);
  }
}

TEST(LoopNest, MergesWhatAllOperandsWalkAsOne) {
  const Shape shape = {2, 3, 1, 4};
  const Shape contiguous = {12, 4, 4, 1};
  const Shape row = {0, 0, 0, 1};
  EXPECT_EQ(LoopNest<1>(shape, {contiguous}).rank, 1);
  const LoopNest<2> nest(shape, {contiguous, row});
  EXPECT_EQ(nest.rank, 2);
  EXPECT_EQ(nest.sizes[0], 6);
  EXPECT_EQ(nest.elements(), 24);
}

TEST(LoopNest, RunsBeginAnywhere) {
  const Shape shape = {3, 2, 5};
  const Shape strides = {1, 100, 7};
  const LoopNest<1> nest(shape, {strides});
  for (std::int64_t begin = 0; begin <= 30; ++begin) {
    for (std::int64_t end = begin; end <= 30; ++end) {
      std::int64_t next = begin;
      nest.for_runs(begin, end, [&](std::int64_t index, std::int64_t count, const auto& offsets) {
        ASSERT_EQ(index, next);
        ASSERT_EQ(offsets[0], offset_of(shape, strides, index));
        next += count;
      });
      ASSERT_EQ(next, end);
    }
  }
}

TEST(LoopNest, RefusesMoreThanSixDimensions) {
  const Shape shape(7, 2);
  EXPECT_THROW(LoopNest<1>(shape, {shape}), InternalError);
}

}  // namespace
}  // namespace hone::kernels
