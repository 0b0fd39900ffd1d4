#include <gtest/gtest.h>

#include "tests/support/evaluate.h"
#include "tests/support/refusal.h"

namespace hone::testing {
namespace {

constexpr std::string_view kReshape = R"(%x = input : f32[B, 6]
%y = reshape(%x) {shape=[B, 3, 2]} : f32[B, 3, 2]
output y = %y)";

TEST(Reshape, IsAViewOfADenseInput) {
  const Tensor x = Tensor::of<float>({1, 6}, {1, 2, 3, 4, 5, 6});
  const Tensor y = run_graph(parse(kReshape), {{"x", x}}).at("y");
  EXPECT_EQ(y.sizes(), (Sizes{1, 3, 2}));
  EXPECT_EQ(y.storage(), x.storage());
}

TEST(Reshape, KeepsTheRowMajorOrderOfAStridedInput) {
  const Tensor x = Tensor::of<float>({6, 2}, {1, 7, 2, 8, 3, 9, 4, 10, 5, 11, 6, 12});
  EXPECT_EQ(evaluate(kReshape, {{"x", x.transpose({1, 0})}}),
            (std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}));
}

TEST(Reshape, RefusesAnotherNumberOfElements) {
  EXPECT_EQ(refusal("reshape", {"i64[B, 6]"}, "shape=[2, B, 3]"), "no error");
  EXPECT_EQ(refusal("reshape", {"f32[B, 6]"}, "shape=[B, 5]"),
            "cannot reshape f32[B, 6] to [B, 5]");
  EXPECT_EQ(refusal("reshape", {"f32[B, 6]"}, "shape=[S, 6]"),
            "cannot reshape f32[B, 6] to [S, 6]");
  EXPECT_EQ(refusal("reshape", {"f32[B, 6]"}, "shape=6"), "shape must be a list such as [B, 4]");
}

}  // namespace
}  // namespace hone::testing
