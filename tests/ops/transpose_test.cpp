#include <gtest/gtest.h>

#include "tests/support/evaluate.h"
#include "tests/support/refusal.h"

namespace hone::testing {
namespace {

TEST(Transpose, IsAViewWithPermutedAxes) {
  const Tensor x = Tensor::of<std::int64_t>({1, 2, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor y = run_graph(parse(R"(%x = input : i64[1, 2, 3]
%y = transpose(%x) {axes=[2, 0, 1]} : i64[3, 1, 2]
output y = %y)"),
                             {{"x", x}})
                       .at("y");
  EXPECT_EQ(elements_of<std::int64_t>(y), (std::vector<std::int64_t>{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(y.storage(), x.storage());
}

TEST(Transpose, RefusesAxesThatAreNoPermutation) {
  for (const char* axes : {"[0, 0]", "[0]", "[1, 2]", "[-1, 0]"}) {
    EXPECT_EQ(refusal("transpose", {"f32[B, 3]"}, fmt::format("axes={}", axes)),
              fmt::format("axes {} are not a permutation of the axes of f32[B, 3]", axes));
  }
  EXPECT_EQ(refusal("transpose", {"f32[B, 3]"}, "axes=1"), "axes must be a list such as [0, 2, 1]");
}

}  // namespace
}  // namespace hone::testing
