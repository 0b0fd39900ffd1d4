#include <gtest/gtest.h>

#include <cmath>

#include "hone/autodiff/gradients.h"
#include "hone/ir/verify.h"
#include "tests/support/evaluate.h"
#include "tests/support/refusal.h"

namespace hone::testing {
namespace {

TEST(Quantize, GivesTheNearestValueOfTheFormat) {
  EXPECT_EQ(
      evaluate(R"(%x = input : f32[2, 2]
%y = quantize(%x) {format=integer(width=4,frac=1)} : f32[2, 2]
output y = %y)",
               {{"x", Tensor::of<float>({2, 2}, {0.3f, -0.8f, 100, -100}).transpose({1, 0})}}),
      (std::vector<float>{0.5, 3.5, -1, -4}));
}

TEST(Quantize, ReadsTheStateOfTheFormat) {
  constexpr std::string_view text = R"(%x = input : f32[2]
%frac = input : f32[]
%y = quantize(%x, %frac) {format=integer(width=8,frac=auto)} : f32[2]
output y = %y)";
  const Tensor x = Tensor::of<float>({2}, {0.3f, -0.8f});
  EXPECT_EQ(evaluate(text, {{"x", x}, {"frac", Tensor::scalar(1.0f)}}),
            (std::vector<float>{0.5, -1}));
  EXPECT_EQ(evaluate(text, {{"x", x}, {"frac", Tensor::scalar(2.0f)}}),
            (std::vector<float>{0.25, -0.75}));
}

// A learned scale s for each of two rows, with seven steps on each side of zero. The second scale is negative; its
// magnitude counts. Esser et al.: dx = dy within the steps, 0 beyond; ds = Σ dy (round(x / s) - x / s) within, Σ dy
// (±7) beyond, times 1 / sqrt(7 values).
TEST(Quantize, HasTheGradientsOfALearnedScale) {
  Graph graph = parse(R"(%x = input : f32[2, 4]
%scale = input : f32[2]
%dy = input : f32[2, 4]
%y = quantize(%x, %scale) {format=int(bits=4,per=row,range=symmetric,scale=learned)} : f32[2, 4]
%product = mul(%y, %dy) : f32[2, 4]
%loss = sum_to(%product) {shape=[]} : f32[]
output loss = %loss)");
  const std::vector<Value> gradients =
      add_gradients(graph, graph.output("loss"), {{graph.find("x"), 0}, {graph.find("scale"), 0}});
  graph.set_output("dx", gradients[0]);
  graph.set_output("ds", gradients[1]);
  graph.set_output("y", {graph.find("y"), 0});
  verify(graph);
  const std::vector<float> x = {0.3f, -1.1f, 9, -9, 0.1f, 0.2f, -0.9f, 5};
  const std::vector<float> scale = {0.5f, -0.25f}, dy = {1, 2, -3, 5, -0.5f, 4, 1.5f, 2};
  const NamedTensors results = run_graph(graph, {{"x", Tensor::of<float>({2, 4}, x)},
                                                 {"scale", Tensor::of<float>({2}, scale)},
                                                 {"dy", Tensor::of<float>({2, 4}, dy)}});
  std::vector<float> y(8), dx(8);
  std::vector<double> ds(2);
  for (std::size_t i = 0; i < 8; ++i) {
    const double s = std::fabs(scale[i / 4]), steps = x[i] / s;
    const bool within = std::fabs(steps) < 7;
    const double whole = within ? std::nearbyint(steps) : std::copysign(7, steps);
    y[i] = static_cast<float>(whole * s);
    dx[i] = within ? dy[i] : 0;
    const double sign = scale[i / 4] < 0 ? -1 : 1;
    ds[i / 4] += sign * dy[i] * (within ? whole - steps : whole) / std::sqrt(4 * 7.0);
  }
  EXPECT_EQ(elements_of(results.at("y")), y);
  EXPECT_EQ(elements_of(results.at("dx")), dx);
  // Terms of up to 35 are added and divided in fp32 or better: an error of a few 2^-24 of them.
  for (std::size_t row = 0; row < 2; ++row)
    EXPECT_NEAR(elements_of(results.at("ds"))[row], ds[row], 1e-5);
}

TEST(QuantizeGradient, RefusesWrongInputs) {
  const std::string learned = "format=int(bits=4,scale=learned)";
  EXPECT_EQ(refusal("quantize_gradient", {"f32[4]", "f32[4]", "f32[]"}, learned), "no error");
  EXPECT_EQ(refusal("quantize_gradient", {"f32[4]", "f32[3]", "f32[]"}, learned),
            "dy must be like x, f32[4], got f32[3]");
  EXPECT_EQ(refusal("quantize_gradient", {"i64[4]", "f32[4]", "f32[]"}, learned),
            "x must be f32, got i64[4]");
  EXPECT_EQ(refusal("quantize_gradient", {"f32[4]", "f32[4]"}, learned),
            "int(bits=4,per=tensor,scale=learned) takes 1 state tensors, got 0");
  EXPECT_EQ(refusal("quantize_gradient", {"f32[4]", "f32[4]", "f32[2]"}, learned),
            "state scale must be f32[], got f32[2]");
  EXPECT_EQ(refusal("quantize_gradient", {"f32[4]", "f32[4]"}, "format=integer(width=8,frac=4)"),
            "gradients pass integer(width=8,frac=4) straight through");
  EXPECT_EQ(refusal("quantize_gradient", {"f32[4]", "f32[4]"}, "format=8"),
            "format must be a number format such as integer(width=8,frac=4)");
}

TEST(Quantize, KeepsAStateForEveryRow) {
  const std::string rows = "format=int(bits=4,per=row,scale=static)";
  EXPECT_EQ(refusal("quantize", {"f32[2, 3, 4]", "f32[6]"}, rows), "no error");
  EXPECT_EQ(refusal("quantize", {"f32[2, 3, 4]", "f32[4]"}, rows),
            "state scale must be f32[6], got f32[4]");
  EXPECT_EQ(refusal("quantize", {"f32[B, 4]", "f32[2]"}, rows),
            "int(bits=4,per=row,scale=static) has a scale per row, but f32[B, 4] has no "
            "fixed rows; use another format for it");
}

TEST(Quantize, RefusesWrongStateAndFormat) {
  EXPECT_EQ(refusal("quantize", {"f32[4]"}), "needs the attribute 'format'");
  EXPECT_EQ(refusal("quantize", {"f32[4]"}, "format=8"),
            "format must be a number format such as integer(width=8,frac=4)");
  EXPECT_EQ(refusal("quantize", {"f32[4]", "f32[]"}, "format=integer(width=8,frac=4)"),
            "integer(width=8,frac=4) takes 0 state tensors, got 1");
  EXPECT_EQ(refusal("quantize", {"f32[4]"}, "format=integer(width=8)"),
            "integer(width=8,frac=auto) takes 1 state tensors, got 0");
  EXPECT_EQ(refusal("quantize", {"f32[4]", "f32[1]"}, "format=integer(width=8)"),
            "state frac must be f32[], got f32[1]");
  EXPECT_EQ(refusal("quantize", {"i64[4]"}, "format=integer(width=8,frac=4)"),
            "x must be f32, got i64[4]");
}

}  // namespace
}  // namespace hone::testing
