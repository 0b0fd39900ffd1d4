#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/evaluate.h"
#include "tests/support/refusal.h"

namespace hone::testing {
namespace {

// Updates a parameter of two elements.
Graph update(const std::string& attributes) {
  return parse(R"(%p = parameter weight trainable : f32[2]
%m = parameter moment frozen : f32[2]
%v = parameter moment frozen : f32[2]
%g = input : f32[2]
%norm = input : f32[]
%rate = input : f32[]
%step = input : i64[]
%new = adamw(%p, %g, %m, %v, %norm, %rate, %step) {)" +
               attributes + R"(} : f32[2], f32[2], f32[2]
output p = %new
output m = %new:1
output v = %new:2
)");
}

// Takes one step with nonzero moments. The norm input claims a gradient norm of 2.
NamedTensors step(const std::string& max_grad_norm) {
  ParameterStore parameters;
  parameters.set("p", Tensor::of<float>({2}, {1, -2}));
  parameters.set("m", Tensor::of<float>({2}, {0.25, 0}));
  parameters.set("v", Tensor::of<float>({2}, {1, 0}));
  return run_graph(
      update("beta1=0.5, beta2=0.75, eps=0.0, weight_decay=0.1, max_grad_norm=" + max_grad_norm),
      {{"g", Tensor::of<float>({2}, {0.5, 4})},
       {"norm", Tensor::scalar(2.0f)},
       {"rate", Tensor::scalar(0.5f)},
       {"step", Tensor::scalar<std::int64_t>(2)}},
      parameters);
}

// m = 0.5 m + 0.5 g;  v = 0.75 v + 0.25 g^2;  both divided by 1 - beta^2: 0.75 and 0.4375.
TEST(Adamw, TakesOneStepWithDecayAndBiasCorrection) {
  const NamedTensors after = step("0.0");
  EXPECT_EQ(elements_of(after.at("m")), (std::vector<float>{0.375, 2}));
  EXPECT_EQ(elements_of(after.at("v")), (std::vector<float>{0.8125, 4}));
  const std::vector<float> p = elements_of(after.at("p"));
  EXPECT_FLOAT_EQ(p[0],
                  static_cast<float>(0.95 - 0.5 * (0.375 / 0.75) / std::sqrt(0.8125 / 0.4375)));
  EXPECT_FLOAT_EQ(p[1], static_cast<float>(-1.9 - 0.5 * (2 / 0.75) / std::sqrt(4 / 0.4375)));
}

TEST(Adamw, ScalesTheGradientDownToTheAllowedNorm) {
  const double clip = 1 / (2 + 1e-6);
  const NamedTensors after = step("1.0");
  EXPECT_FLOAT_EQ(elements_of(after.at("m"))[1], static_cast<float>(0.5 * 4 * clip));
  EXPECT_FLOAT_EQ(elements_of(after.at("v"))[1], static_cast<float>(0.25 * 16 * clip * clip));
  EXPECT_EQ(elements_of(step("2.5").at("m")), elements_of(step("0.0").at("m")));
}

// hone/kernels/adamw.h documents this. Tests the reference.
TEST(Adamw, KeepsNoMomentsTooSmallForANormalFloat) {
  ParameterStore parameters;
  parameters.set("p", Tensor::of<float>({2}, {1, 1}));
  parameters.set("m", Tensor::of<float>({2}, {-1.2e-38f, 1e-30f}));
  parameters.set("v", Tensor::of<float>({2}, {1.17550e-38f, 1e-30f}));
  const double rate = 100 * 0x1p-24 / 0.01;
  const NamedTensors after = run_graph(update("weight_decay=0.01"),
                                       {{"g", Tensor::of<float>({2}, {0, 0})},
                                        {"norm", Tensor::scalar(0.0f)},
                                        {"rate", Tensor::scalar(static_cast<float>(rate))},
                                        {"step", Tensor::scalar<std::int64_t>(1)}},
                                       parameters);
  const auto of_last = [](double beta) { return static_cast<float>(beta * double{1e-30f}); };
  EXPECT_EQ(elements_of(after.at("m")), (std::vector<float>{0, of_last(0.9)}));
  EXPECT_EQ(elements_of(after.at("v")), (std::vector<float>{0, of_last(0.999)}));
  EXPECT_EQ(elements_of(after.at("p"))[0], static_cast<float>(1 - 100 * 0x1p-24));
}

TEST(Adamw, RefusesOperandsThatDoNotFit) {
  const std::vector<std::string> fitting = {"f32[4]", "f32[4]", "f32[4]", "f32[4]",
                                            "f32[]",  "f32[]",  "i64[]"};
  const auto with = [&](std::size_t index, const char* type) {
    std::vector<std::string> types = fitting;
    types[index] = type;
    return refusal("adamw", types);
  };
  EXPECT_EQ(refusal("adamw", fitting), "no error");
  EXPECT_EQ(with(1, "f32[5]"),
            "parameter, gradient and moments must have one shape, got f32[4] and f32[5]");
  EXPECT_EQ(with(2, "i64[4]"), "parameter, gradient and moments must be f32, got i64[4]");
  EXPECT_EQ(with(4, "f32[1]"), "norm must have 0 dimensions, got f32[1]");
  EXPECT_EQ(with(5, "f64[]"), "learning_rate must be f32, got f64[]");
  EXPECT_EQ(with(6, "f32[]"), "step must be i64, got f32[]");
}

}  // namespace
}  // namespace hone::testing
