#include "hone/analysis/sparsity.h"

#include <gtest/gtest.h>

#include "tests/analysis/graph_text.h"

namespace hone::testing {
namespace {

// Weights, biases and gains count; masks, and states that training or calibration fills, do not.
TEST(Sparsity, CountsZerosOfEveryParameterThatCounts) {
  const Graph graph = parse(
      "%x = input : f32[B, 4]\n"
      "%x.threshold.least = parameter buffer frozen : f32[]\n"
      "%x.threshold = threshold(%x, %x.threshold.least) : f32[B, 4]\n"
      "%w = parameter weight trainable : f32[2, 4]\n"
      "%w.mask = parameter mask frozen : bool[2, 4]\n"
      "%w.masked = mask(%w, %w.mask) : f32[2, 4]\n"
      "%b = parameter bias trainable : f32[2]\n"
      "%layer = linear(%x.threshold, %w.masked, %b) : f32[B, 2]\n"
      "output y = %layer\n");
  ParameterStore parameters;
  const std::vector<float> weights = {0, 1, -0.0F, 2, 0, 1e-40F, -3, 4}, biases = {0, 1},
                           least = {0};
  parameters.set("w", Tensor::of<float>({2, 4}, weights));
  parameters.set("b", Tensor::of<float>({2}, biases));
  parameters.set("x.threshold.least", Tensor::of<float>({}, least));
  const std::vector<Zeros> zeros = parameter_zeros(graph, parameters);
  ASSERT_EQ(zeros.size(), 2);
  EXPECT_EQ(zeros[0].name, "w");
  EXPECT_EQ(zeros[0].elements, 8);
  EXPECT_EQ(zeros[0].zeros, 3) << "both signs of zero, and no small number";
  EXPECT_EQ(zeros[1].name, "b");
  EXPECT_EQ(zeros[1].zeros, 1);
  EXPECT_EQ(total(zeros).name, "");
  EXPECT_EQ(total(zeros).elements, 10);
  EXPECT_EQ(total(zeros).share(), 0.4);
  EXPECT_EQ(total({}).share(), 0);
}

}  // namespace
}  // namespace hone::testing
