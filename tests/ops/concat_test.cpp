#include <gtest/gtest.h>

#include "tests/support/evaluate.h"
#include "tests/support/refusal.h"

namespace hone::testing {
namespace {

TEST(Concat, PutsValuesBehindEachOtherAlongAnAxis) {
  const NamedTensors inputs = {{"a", Tensor::of<float>({2, 2}, {1, 2, 3, 4})},
                               {"b", Tensor::of<float>({2, 1}, {5, 6})}};
  EXPECT_EQ(evaluate(R"(%a = input : f32[B, 2]
%b = input : f32[B, 1]
%y = concat(%b, %a, %b) {axis=1} : f32[B, 4]
output y = %y)",
                     inputs),
            (std::vector<float>{5, 1, 2, 5, 6, 3, 4, 6}));
  EXPECT_EQ(evaluate(R"(%a = input : f32[2, 2]
%turned = transpose(%a) {axes=[1, 0]} : f32[2, 2]
%y = concat(%a, %turned) {axis=0} : f32[4, 2]
output y = %y)",
                     {{"a", inputs.at("a")}}),
            (std::vector<float>{1, 2, 3, 4, 1, 3, 2, 4}));
}

TEST(Concat, RefusesValuesThatDoNotFit) {
  EXPECT_EQ(refusal("concat", {"f32[B, 2]", "f32[B, 3]"}, "axis=1"), "no error");
  EXPECT_EQ(refusal("concat", {"f32[B, 2]"}, "axis=2"), "there is no axis 2 in f32[B, 2]");
  EXPECT_EQ(refusal("concat", {"f32[B, 2]", "f32[B, 3]"}, "axis=0"),
            "sizes along axis 0 must be fixed, got f32[B, 2]");
  EXPECT_EQ(refusal("concat", {"f32[B, 2]", "f32[3, 2]"}, "axis=1"),
            "sizes of the other axes: expected B, got 3");
  EXPECT_EQ(refusal("concat", {"f32[2, 2]", "f32[2]"}, "axis=1"),
            "values must have 2 dimensions, got f32[2]");
  EXPECT_EQ(refusal("concat", {"f32[2, 2]", "i64[2, 2]"}, "axis=1"),
            "values must be f32, got i64[2, 2]");
}

}  // namespace
}  // namespace hone::testing
