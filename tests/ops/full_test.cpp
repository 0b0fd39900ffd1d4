#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/evaluate.h"
#include "tests/support/refusal.h"

namespace hone::testing {
namespace {

TEST(Full, TakesTheShapeOfItsInputAndNothingElse) {
  const NamedTensors inputs = {{"x", Tensor::of<float>({2}, {NAN, 5})}};
  EXPECT_EQ(evaluate(R"(%x = input : f32[B]
%y = full(%x) {value=-1.5, dtype="f32"} : f32[B]
output y = %y)",
                     inputs),
            (std::vector<float>{-1.5, -1.5}));
  EXPECT_EQ(evaluate<std::int64_t>(R"(%x = input : f32[B]
%y = full(%x) {value=3.0, dtype="i64"} : i64[B]
output y = %y)",
                                   inputs),
            (std::vector<std::int64_t>{3, 3}));
}

TEST(Full, RefusesOtherElementTypes) {
  EXPECT_EQ(refusal("full", {"f32[B]"}, "dtype=\"f64\""),
            "dtype must be f32, bf16, f16 or i64, got f64");
  EXPECT_EQ(
      refusal("full", {"f32[B]"}, "dtype=\"real\""),
      "'real' is not an element type; expected one of f32, f16, bf16, f64, i64, i32, i8, u8, bool");
}

}  // namespace
}  // namespace hone::testing
