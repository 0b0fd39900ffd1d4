#include <gtest/gtest.h>

#include "tests/support/evaluate.h"
#include "tests/support/refusal.h"

namespace hone::testing {
namespace {

// Row (-2, 6): mean 2, variance 16; with eps = 9 the deviation is 5. Row (5, 5) gives beta.
TEST(LayerNorm, CentersScalesAndShiftsEveryRow) {
  constexpr std::string_view text = R"(%x = input : f32[B, 2]
%gamma = input : f32[2]
%beta = input : f32[2]
%y = layer_norm(%x, %gamma, %beta) {eps=9.0} : f32[B, 2]
output y = %y)";
  const std::vector<float> y = evaluate(text, {{"x", Tensor::of<float>({2, 2}, {-2, 6, 5, 5})},
                                               {"gamma", Tensor::of<float>({2}, {10, 5})},
                                               {"beta", Tensor::of<float>({2}, {1, -1})}});
  EXPECT_FLOAT_EQ(y[0], 10 * -4.0 / 5 + 1);
  EXPECT_FLOAT_EQ(y[1], 5 * 4.0 / 5 - 1);
  EXPECT_EQ(y[2], 1);
  EXPECT_EQ(y[3], -1);
}

// A naive sum of squares minus the square of the mean would lose all digits here.
TEST(LayerNorm, KeepsItsAccuracyFarFromZero) {
  constexpr std::string_view text = R"(%x = input : f32[1, 2]
%one = input : f32[2]
%zero = input : f32[2]
%y = layer_norm(%x, %one, %zero) {eps=1e-12} : f32[1, 2]
output y = %y)";
  const std::vector<float> y = evaluate(text, {{"x", Tensor::of<float>({1, 2}, {1e6f, 1e6f + 1})},
                                               {"one", Tensor::of<float>({2}, {1, 1})},
                                               {"zero", Tensor::of<float>({2}, {0, 0})}});
  EXPECT_FLOAT_EQ(y[0], -1);
  EXPECT_FLOAT_EQ(y[1], 1);
}

TEST(LayerNormCodes, GivesTheCodesThatAnEncoderMakesOfTheNorm) {
  const Graph graph = parse(R"(%x = input : f32[2, 4]
%gamma = input : f32[4]
%beta = input : f32[4]
%n = layer_norm(%x, %gamma, %beta) {eps=9.0} : f32[2, 4]
%expected = encode_rows(%n) {format=int(bits=8,per=token)} : u8[2, 76]
%both = layer_norm_codes(%x, %gamma, %beta) {eps=9.0, format=int(bits=8,per=token)} : f32[2, 4], u8[2, 76]
output n = %n
output expected = %expected
output y = %both
output codes = %both:1
)");
  const NamedTensors outputs =
      run_graph(graph, {{"x", Tensor::of<float>({2, 4}, {-2, 6, 5, 5, 1, 2, 3, 4})},
                        {"gamma", Tensor::of<float>({4}, {10, 5, 1, 2})},
                        {"beta", Tensor::of<float>({4}, {1, -1, 0, 3})}});
  EXPECT_EQ(elements_of(outputs.at("y")), elements_of(outputs.at("n")));
  EXPECT_EQ(elements_of<std::uint8_t>(outputs.at("codes")),
            elements_of<std::uint8_t>(outputs.at("expected")));
}

TEST(LayerNormCodes, RefusesOperandsThatDoNotFit) {
  const std::string dynamic = "format=int(bits=8,per=token)", fixed = "format=int(bits=8)";
  EXPECT_EQ(refusal("layer_norm_codes", {"bf16[B, 4]", "f32[4]", "f32[4]"}, dynamic), "no error");
  EXPECT_EQ(refusal("layer_norm_codes", {"f32[B, 4]", "f32[4]", "f32[4]", "f32[]"}, fixed),
            "no error");
  EXPECT_NE(refusal("layer_norm_codes", {"f32[B, 4]", "f32[4]", "f32[4]", "f32[2]"}, fixed),
            "no error");
  EXPECT_NE(refusal("layer_norm_codes", {"f32[B, 4]", "f32[4]", "f32[4]"}, fixed), "no error");
  EXPECT_NE(refusal("layer_norm_codes", {"f32[B, 4]", "f32[4]", "f32[4]"}, "format=bf16"),
            "no error");
}

TEST(LayerNorm, RefusesOperandsThatDoNotFit) {
  EXPECT_EQ(refusal("layer_norm", {"f32[B, 4]", "f32[4]", "f32[4]"}), "no error");
  EXPECT_EQ(refusal("layer_norm", {"f32[]", "f32[4]", "f32[4]"}),
            "x must have at least 1 dimension");
  EXPECT_EQ(refusal("layer_norm", {"f32[B, 4]", "f32[3]", "f32[4]"}),
            "length of gamma: expected 4, got 3");
  EXPECT_EQ(refusal("layer_norm", {"f32[B, 4]", "f32[4]", "f32[4, 1]"}),
            "beta must have 1 dimensions, got f32[4, 1]");
  EXPECT_EQ(refusal("layer_norm", {"f32[B, 4]", "f32[4]"}), "takes x, gamma, beta inputs, got 2");
  EXPECT_EQ(refusal("layer_norm_gradient", {"f32[B, 4]", "f32[4]", "f32[B, 5]"}),
            "dy must be f32[B, 4], got f32[B, 5]");
  EXPECT_EQ(refusal("layer_norm_gradient", {"f32[B, 4]", "f32[5]", "f32[B, 4]"}),
            "length of gamma: expected 4, got 5");
}

}  // namespace
}  // namespace hone::testing
