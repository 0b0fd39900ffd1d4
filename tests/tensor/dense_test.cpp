#include "hone/tensor/dense.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

std::vector<float> values_of(const Tensor& tensor) {
  const auto values = tensor.values<float>();
  return {values.begin(), values.end()};
}

TEST(DenseOn, IsTheTensorItselfWhereItIsDenseAndThere) {
  const Tensor x = Tensor::of<float>({2, 2}, {1, 2, 3, 4});
  EXPECT_EQ(dense_on(x, cpu()).storage(), x.storage());
}

TEST(DenseOn, PutsTheElementsOfAViewInOrder) {
  const Tensor x = Tensor::of<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(values_of(dense_on(x.transpose({1, 0}), cpu())),
            (std::vector<float>{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(values_of(dense_on(x.slice(1, 1, 3), cpu())), (std::vector<float>{2, 3, 5, 6}));
}

}  // namespace
}  // namespace hone
