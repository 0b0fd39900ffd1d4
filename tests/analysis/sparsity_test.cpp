#include "hone/analysis/sparsity.h"

#include <gtest/gtest.h>

#include "tests/analysis/graph_text.h"

namespace hone::testing {
namespace {

// Weights, biases and gains count. Masks, and states filled by training or calibration, do not.
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

TEST(Sparsity, NamesThePatternOfZerosInLinearWeights) {
  const Graph graph = parse(
      "%x = input : f32[B, 8]\n"
      "%w = parameter weight trainable : f32[4, 8]\n"
      "%w.mask = parameter mask frozen : bool[4, 8]\n"
      "%w.masked = mask(%w, %w.mask) : f32[4, 8]\n"
      "%b = parameter bias trainable : f32[4]\n"
      "%layer = linear(%x, %w.masked, %b) : f32[B, 4]\n"
      "output y = %layer\n");
  const auto zeros_with = [&](auto&& is_kept) {
    ParameterStore parameters;
    Tensor weight = Tensor::empty(DType::f32, {4, 8}), mask = Tensor::empty(DType::boolean, {4, 8});
    for (std::int64_t i = 0; i < 32; ++i) {
      weight.data<float>()[i] = 1;
      mask.data<bool>()[i] = is_kept(i / 8, i % 8);
    }
    parameters.set("w", weight);
    parameters.set("w.mask", mask);
    parameters.set("b", Tensor::zeros(DType::f32, {4}));
    return linear_zeros(graph, parameters);
  };
  const auto structure_of = [&](auto&& is_kept) {
    return structure_text(zeros_with(is_kept).structure);
  };
  using Index = std::int64_t;
  EXPECT_EQ(structure_of([](Index, Index column) { return column == 3; }), "4x1");
  EXPECT_EQ(structure_of([](Index row, Index column) { return (row + column / 4) % 2 == 0; }),
            "1x4");
  EXPECT_EQ(structure_of([](Index row, Index column) { return (row + column) % 2 == 0; }), "2:4");
  EXPECT_EQ(structure_of([](Index row, Index column) { return row * 8 + column > 2; }), "weights");
  const LinearZeros few = zeros_with([](Index row, Index column) { return row * 8 + column > 7; });
  EXPECT_EQ(few.zeros.zeros, 8);
  EXPECT_EQ(few.zeros.elements, 32);
  EXPECT_NE(to_text(few).find("25.0%"), std::string::npos) << to_text(few);
  EXPECT_EQ(to_text(zeros_with([](Index, Index) { return true; })), "");
}

}  // namespace
}  // namespace hone::testing
