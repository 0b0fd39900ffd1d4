#include <gtest/gtest.h>

#include "tests/support/evaluate.h"
#include "tests/support/refusal.h"

namespace hone::testing {
namespace {

TEST(Scale, MultipliesByTheFactorRoundedToFp32) {
  EXPECT_EQ(evaluate(R"(%x = input : f32[2]
%y = scale(%x) {factor=0.1} : f32[2]
output y = %y)",
                     {{"x", Tensor::of<float>({2}, {1, -30})}}),
            (std::vector<float>{0.1f, -30 * 0.1f}));
}

TEST(Scale, RefusesAFactorThatIsNoRealNumber) {
  EXPECT_EQ(refusal("scale", {"f32[2]"}), "needs the attribute 'factor'");
  EXPECT_EQ(refusal("scale", {"f32[2]"}, "factor=2"), "factor must be a real number");
  EXPECT_EQ(refusal("scale", {"f64[2]"}, "factor=2.0"),
            "input must be f32, bf16 or f16, got f64[2]");
}

}  // namespace
}  // namespace hone::testing
