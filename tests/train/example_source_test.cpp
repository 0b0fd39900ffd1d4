#include "hone/train/example_source.h"

#include <gtest/gtest.h>

#include "tests/support/expect.h"
#include "tests/support/tiny_model.h"

namespace hone {
namespace {

using testing::floats_of;

Tensor six() { return Tensor::of<float>({3, 2}, {1, 2, 3, 4, 5, 6}); }

TEST(VectorExamples, HaveOneRowForEachOfTheirColumns) {
  const ExampleSource source =
      vector_examples({{"x", six()}, {"labels", Tensor::of<std::int64_t>({3}, {7, 8, 9})}});
  EXPECT_EQ(source.size(), 3);
  EXPECT_EQ(source.lengths, (std::vector<std::int64_t>{1, 1, 1}));
  EXPECT_EQ(vector_examples({{"x", Tensor::of<float>({0, 2}, {})}}).size(), 0);
}

TEST(VectorExamples, GiveTheRowsAskedForInTheirOrder) {
  const ExampleSource source =
      vector_examples({{"x", six()}, {"labels", Tensor::of<std::int64_t>({3}, {7, 8, 9})}});
  const std::vector<std::int64_t> rows = {2, 0, 2, 1};
  const NamedTensors batch = source.batch(rows, /*least_length=*/0);
  ASSERT_EQ(batch.size(), 2u);
  EXPECT_EQ(batch.at("x").sizes(), (Sizes{4, 2}));
  EXPECT_EQ(floats_of(batch.at("x")), (std::vector<float>{5, 6, 1, 2, 5, 6, 3, 4}));
  EXPECT_EQ(batch.at("labels").sizes(), (Sizes{4}));
  const auto labels = batch.at("labels").values<std::int64_t>();
  EXPECT_EQ(std::vector(labels.begin(), labels.end()), (std::vector<std::int64_t>{9, 7, 9, 8}));
}

// Columns are read by their logical values, whatever their strides.
TEST(VectorExamples, TakeColumnsThatAreViews) {
  const ExampleSource source =
      vector_examples({{"turned", Tensor::of<float>({2, 3}, {1, 3, 5, 2, 4, 6}).transpose({1, 0})},
                       {"part", Tensor::of<float>({5, 1}, {0, 10, 20, 30, 0}).slice(0, 1, 4)}});
  const NamedTensors batch = source.batch(std::vector<std::int64_t>{1}, 0);
  EXPECT_EQ(floats_of(batch.at("turned")), (std::vector<float>{3, 4}));
  EXPECT_EQ(floats_of(batch.at("part")), (std::vector<float>{20}));
}

TEST(VectorExamples, RefuseColumnsWithoutRowsOrOfOtherNumbersOfThem) {
  expect_user_error("column 'x' has 3 rows, 'labels' has 2", [] {
    vector_examples({{"x", six()}, {"labels", Tensor::of<std::int64_t>({2}, {7, 8})}});
  });
  expect_user_error("column 'rate' has no rows: expected an element for each example, got a number",
                    [] {
                      vector_examples({{"rate", Tensor::scalar(1.0f)}});
                    });
}

TEST(WithColumn, GivesBatchesTheirRowsOfIt) {
  const ExampleSource source =
      with_column(vector_examples({{"x", Tensor::of<float>({3, 1}, {1, 2, 3})}}), "more",
                  Tensor::of<float>({3, 2}, {10, 11, 20, 21, 30, 31}));
  const std::vector<std::int64_t> rows = {2, 0};
  const NamedTensors batch = source.batch(rows, 0);
  EXPECT_EQ(floats_of(batch.at("x")), (std::vector<float>{3, 1}));
  EXPECT_EQ(floats_of(batch.at("more")), (std::vector<float>{30, 31, 10, 11}));
  expect_user_error("column 'more' must have 3 rows, one for each example, got [2]", [&] {
    with_column(source, "more", Tensor::of<float>({2}, {1, 2}));
  });
}

}  // namespace
}  // namespace hone
