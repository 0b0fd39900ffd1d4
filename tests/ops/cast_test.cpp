#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/evaluate.h"
#include "tests/support/refusal.h"

namespace hone::testing {
namespace {

// 1 + 2^-8 is halfway between two bfloat16 values and rounds to the even one, 1. Slightly larger values round up.
TEST(Cast, RoundsToNearestTiesToEven) {
  const Tensor rounded =
      run_graph(parse("%x = input : f32[4]\n%y = cast(%x) {dtype=\"bf16\"} : "
                      "bf16[4]\noutput y = %y\n"),
                {{"x", Tensor::of<float>({4}, {1 + 0x1p-8f, 1 + 0x1.01p-8f, -3, INFINITY})}})
          .at("y");
  EXPECT_EQ(rounded.dtype(), DType::bf16);
  EXPECT_EQ(elements_of(rounded.cast(DType::f32)),
            (std::vector<float>{1, 1 + 0x1p-7f, -3, INFINITY}));
}

TEST(Cast, WidensExactly) {
  EXPECT_EQ(evaluate("%x = input : f16[2]\n%y = cast(%x) {dtype=\"f32\"} : f32[2]\noutput y = %y\n",
                     {{"x", Tensor::of<float>({2}, {0.5f, -1000}).cast(DType::f16)}}),
            (std::vector<float>{0.5f, -1000}));
}

// References compute in fp32 only. Half-precision inputs are widened before and results rounded after.
TEST(Cast, LetsReferencesComputeWithHalves) {
  const Tensor x = Tensor::of<float>({2}, {1, 3}).cast(DType::bf16);
  const Tensor y =
      run_graph(parse("%x = input : bf16[2]\n%y = scale(%x) {factor=0.3} : bf16[2]\n%z = add(%y, "
                      "%x) : bf16[2]\noutput z = %z\n"),
                {{"x", x}})
          .at("z");
  EXPECT_EQ(y.dtype(), DType::bf16);
  const float scaled =
      Tensor::of<float>({1}, {0.3f}).cast(DType::bf16).cast(DType::f32).data<float>()[0];
  EXPECT_EQ(
      elements_of(y.cast(DType::f32))[0],
      elements_of(Tensor::of<float>({1}, {scaled + 1}).cast(DType::bf16).cast(DType::f32))[0]);
}

TEST(Cast, RefusesWhatIsNoFloat) {
  EXPECT_EQ(refusal("cast", {"i64[2]"}, "dtype=\"f32\""), "x must be f32, bf16 or f16, got i64[2]");
  EXPECT_EQ(refusal("cast", {"f32[2]"}, "dtype=\"i64\""), "y must be f32, bf16 or f16, got i64[2]");
}

}  // namespace
}  // namespace hone::testing
