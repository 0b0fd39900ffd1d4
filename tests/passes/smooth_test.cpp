#include "hone/passes/smooth.h"

#include <gtest/gtest.h>

#include "tests/passes/before_after.h"

namespace hone::testing {
namespace {

// A pre-norm block: only linears read the output of the normalization.
constexpr const char* kPreNorm =
    "%x = input : f32[B, 4]\n"
    "%g = parameter gain trainable : f32[4]\n"
    "%b = parameter bias trainable : f32[4]\n"
    "%w = parameter weight trainable : f32[2, 4]\n"
    "%v = parameter weight trainable : f32[3, 4]\n"
    "%n = layer_norm(%x, %g, %b) {eps=1e-12} : f32[B, 4]\n"
    "%p = linear(%n, %w) : f32[B, 2]\n"
    "%q = linear(%n, %v) : f32[B, 3]\n"
    "output p = %p\n"
    "output q = %q\n";

ParameterStore pre_norm_parameters() {
  ParameterStore store;
  store.set("g", Tensor::of<float>({4}, {1, 2, 3, 4}));
  store.set("b", Tensor::of<float>({4}, {0.1f, 0.2f, 0.3f, 0.4f}));
  store.set("w", Tensor::of<float>({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8}));
  store.set("v", Tensor::of<float>({3, 4}, std::vector<float>(12, 1)));
  return store;
}

TEST(Smooth, DividesGainAndBiasWhereNothingElseReadsThem) {
  Graph graph = parse(kPreNorm);
  const std::string before = to_string(graph);
  const std::vector<SmoothGroup> groups = smooth_groups(graph, {"p", "q"});
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_TRUE(groups[0].free());
  EXPECT_EQ(groups[0].rows, (std::vector<std::string>{"g", "b"}));
  EXPECT_EQ(groups[0].linears, (std::vector<std::string>{"p", "q"}));
  ParameterStore store = pre_norm_parameters();
  const std::vector<float> scales = {2, 1, 0.5f, 4};
  smooth(graph, store, groups[0], scales);
  EXPECT_EQ(to_string(graph), before);
  EXPECT_EQ(elements_of(store.at("g")), (std::vector<float>{0.5f, 2, 6, 1}));
  EXPECT_EQ(elements_of(store.at("b")), (std::vector<float>{0.05f, 0.2f, 0.6f, 0.1f}));
  EXPECT_EQ(elements_of(store.at("w")), (std::vector<float>{2, 2, 1.5f, 16, 10, 6, 3.5f, 32}));
  EXPECT_EQ(elements_of(store.at("v"))[3], 4);
}

// Another linear reads the value too, so a product is inserted before the smoothed one.
TEST(Smooth, PutsAProductWhereSomethingElseReadsTheValue) {
  Graph graph = parse(kPreNorm);
  const std::vector<SmoothGroup> groups = smooth_groups(graph, {"q"});
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_FALSE(groups[0].free());
  ParameterStore store = pre_norm_parameters();
  const std::vector<float> scales = {2, 1, 0.5f, 4};
  smooth(graph, store, groups[0], scales);
  verify(graph);
  EXPECT_EQ(to_string(graph),
            "%x = input : f32[B, 4]\n"
            "%g = parameter gain trainable : f32[4]\n"
            "%b = parameter bias trainable : f32[4]\n"
            "%w = parameter weight trainable : f32[2, 4]\n"
            "%v = parameter weight trainable : f32[3, 4]\n"
            "%n.smoothing = parameter gain trainable : f32[4]\n"
            "%n = layer_norm(%x, %g, %b) {eps=1e-12} : f32[B, 4]\n"
            "%p = linear(%n, %w) : f32[B, 2]\n"
            "%n.smoothed = mul(%n, %n.smoothing) : f32[B, 4]\n"
            "%q = linear(%n.smoothed, %v) : f32[B, 3]\n"
            "output p = %p\n"
            "output q = %q\n");
  EXPECT_EQ(elements_of(store.at("n.smoothing")), (std::vector<float>{0.5f, 1, 2, 0.25f}));
  EXPECT_EQ(elements_of(store.at("g")), (std::vector<float>{1, 2, 3, 4}));
}

// Scales that are powers of two restore the bits of the weights.
TEST(Smooth, UnsmoothPutsTheProductIntoTheWeightsAgain) {
  const Graph before = parse(kPreNorm);
  Graph graph = before;
  ParameterStore store = pre_norm_parameters();
  smooth(graph, store, smooth_groups(graph, {"q"})[0], std::vector<float>{2, 1, 0.5f, 4});
  EXPECT_EQ(smoothed_linears(graph), (std::vector<std::string>{"q"}));
  EXPECT_NE(elements_of(store.at("v")), elements_of(pre_norm_parameters().at("v")));
  Graph alone = graph;
  EXPECT_TRUE(unsmooth(alone));
  EXPECT_EQ(to_string(alone), to_string(before));
  EXPECT_TRUE(unsmooth(graph, store));
  EXPECT_EQ(to_string(graph), to_string(before));
  for (const char* name : {"w", "v", "g", "b"})
    EXPECT_EQ(elements_of(store.at(name)), elements_of(pre_norm_parameters().at(name))) << name;
  EXPECT_FALSE(unsmooth(graph, store));
  EXPECT_TRUE(smoothed_linears(graph).empty());
}

}  // namespace
}  // namespace hone::testing
