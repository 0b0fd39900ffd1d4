#include "hone/passes/fuse_linear.h"

#include <fmt/core.h>

#include "tests/passes/before_after.h"

namespace hone::testing {
namespace {

constexpr std::string_view kLinearInputs = R"(%x = input : f32[B, 4]
%skip = input : f32[B, 3]
%w = parameter weight trainable : f32[3, 4]
%b = parameter bias trainable : f32[3]
)";

std::string after_inputs(std::string_view rest) { return fmt::format("{}{}", kLinearInputs, rest); }

void expect_fused(std::string_view before, std::string_view after) {
  expect_after(after_inputs(before), fuse_linear, after_inputs(after));
}

TEST(FuseLinear, TakesActivationsAndResidualsIn) {
  expect_fused(R"(%y = linear(%x, %w, %b) : f32[B, 3]
%a = gelu(%y) {approximate="tanh"} : f32[B, 3]
%sum = add(%skip, %a) : f32[B, 3]
output sum = %sum
)",
               R"(%y.fused = fused_linear(%x, %w, %b, %skip) {activation="gelu_tanh"} : f32[B, 3]
output sum = %y.fused
)");
  for (const auto& [op, name] :
       {std::pair<const char*, const char*>{"relu(%y)", "relu"}, {"tanh(%y)", "tanh"}}) {
    expect_fused(fmt::format(R"(%y = linear(%x, %w, %b) : f32[B, 3]
%a = {} : f32[B, 3]
output a = %a
)",
                             op),
                 fmt::format(R"(%y.fused = fused_linear(%x, %w, %b) {{activation="{}"}} : f32[B, 3]
output a = %y.fused
)",
                             name));
  }
}

TEST(FuseLinear, AddsWithoutAnActivation) {
  expect_fused(R"(%y = linear(%x, %w, %b) : f32[B, 3]
%sum = add(%y, %skip) : f32[B, 3]
output sum = %sum
)",
               R"(%y.fused = fused_linear(%x, %w, %b, %skip) {activation="none"} : f32[B, 3]
output sum = %y.fused
)");
}

TEST(FuseLinear, LeavesWhatSomethingElseReads) {
  const std::string text = after_inputs(R"(%y = linear(%x, %w, %b) : f32[B, 3]
%a = relu(%y) : f32[B, 3]
%z = linear(%x, %w, %b) : f32[B, 3]
%twice = add(%z, %z) : f32[B, 3]
output y = %y
output a = %a
output twice = %twice
)");
  expect_after(text, fuse_linear, text);
}

TEST(FuseLinear, LeavesLinearsWithoutBiasAndSumsThatStretch) {
  const std::string text = after_inputs(R"(%row = input : f32[3]
%y = linear(%x, %w) : f32[B, 3]
%a = relu(%y) : f32[B, 3]
%z = linear(%x, %w, %b) : f32[B, 3]
%sum = add(%z, %row) : f32[B, 3]
output a = %a
output sum = %sum
)");
  Graph graph = parse(text);
  EXPECT_FALSE(fuse_linear(graph));
}

}  // namespace
}  // namespace hone::testing
