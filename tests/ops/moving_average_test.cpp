#include <gtest/gtest.h>

#include "tests/support/evaluate.h"
#include "tests/support/refusal.h"

namespace hone::testing {
namespace {

TEST(MovingAverage, ComesNearerToWhatItReads) {
  constexpr std::string_view text = R"(%x = input : f32[2]
%average = parameter buffer frozen : f32[2]
%new = moving_average(%average, %x) {momentum=0.25} : f32[2]
output y = %new)";
  ParameterStore parameters;
  parameters.set("average", Tensor::of<float>({2}, {4, 8}));
  const NamedTensors got =
      run_graph(parse(text), {{"x", Tensor::of<float>({2}, {8, 0})}}, parameters);
  EXPECT_EQ(elements_of(got.at("y")), (std::vector<float>{5, 6}));
}

TEST(MovingAverage, RefusesOperandsThatDoNotFit) {
  EXPECT_EQ(refusal("moving_average", {"f32[2]", "f32[3]"}),
            "average and x must have one shape, got f32[2] and f32[3]");
  EXPECT_EQ(refusal("moving_average", {"f32[2]", "f32[2]"}, "momentum=2.0"),
            "momentum must be from 0 to 1, got 2");
}

}  // namespace
}  // namespace hone::testing
