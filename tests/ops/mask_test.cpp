#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/evaluate.h"
#include "tests/support/refusal.h"

namespace hone::testing {
namespace {

TEST(Mask, LetsThroughWhatIsKept) {
  EXPECT_EQ(evaluate(R"(%x = input : f32[4]
%kept = input : bool[4]
%y = mask(%x, %kept) : f32[4]
output y = %y)",
                     {{"x", Tensor::of<float>({4}, {-1, 2, INFINITY, 4})},
                      {"kept", booleans({4}, {1, 0, 0, 1})}}),
            (std::vector<float>{-1, 0, 0, 4}));
}

TEST(Mask, RefusesOtherElementTypesAndShapes) {
  EXPECT_EQ(refusal("mask", {"i64[2]", "bool[2]"}), "x must be f32, got i64[2]");
  EXPECT_EQ(refusal("mask", {"f32[2]", "f32[2]"}), "kept must be bool, got f32[2]");
  EXPECT_EQ(refusal("mask", {"f32[2, 3]", "bool[3]"}),
            "kept must have the shape of x, f32[2, 3], got bool[3]");
}

}  // namespace
}  // namespace hone::testing
