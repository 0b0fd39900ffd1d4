#include <gtest/gtest.h>

#include "tests/support/evaluate.h"
#include "tests/support/refusal.h"

namespace hone::testing {
namespace {

TEST(GlobalAveragePool, TakesTheMeanOfEachChannel) {
  constexpr std::string_view text = R"(%x = input : f32[1, 2, 1, 2]
%y = global_average_pool(%x) : f32[1, 2]
output y = %y)";
  EXPECT_EQ(evaluate(text, {{"x", Tensor::of<float>({1, 2, 1, 2}, {1, 3, -4, 2})}}),
            (std::vector<float>{2, -1}));
}

TEST(GlobalAveragePool, RefusesWhatIsNoImage) {
  EXPECT_EQ(refusal("global_average_pool", {"f32[B, 3]"}),
            "x must have 4 dimensions, got f32[B, 3]");
  EXPECT_EQ(refusal("global_average_pool_gradient", {"f32[B, 3]"}, "shape=[B, 4, 2, 2]"),
            "dy must be f32[B, 4], got f32[B, 3]");
}

}  // namespace
}  // namespace hone::testing
