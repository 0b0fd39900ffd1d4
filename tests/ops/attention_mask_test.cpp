#include <gtest/gtest.h>

#include <limits>

#include "tests/support/evaluate.h"
#include "tests/support/refusal.h"

namespace hone::testing {
namespace {

TEST(AttentionMask, IsZeroWhereTheMaskIsSetAndTheLowestFloatElsewhere) {
  const float lowest = std::numeric_limits<float>::lowest();
  const NamedTensors results =
      run_graph(parse(R"(%mask = input : i64[B, S]
%y = attention_mask(%mask) : f32[B, 1, 1, S]
output y = %y)"),
                {{"mask", Tensor::of<std::int64_t>({2, 3}, {1, 1, 0, 7, 0, 0})}});
  EXPECT_EQ(results.at("y").sizes(), (Sizes{2, 1, 1, 3}));
  EXPECT_EQ(elements_of(results.at("y")), (std::vector<float>{0, 0, lowest, 0, lowest, lowest}));
}

TEST(AttentionMask, RefusesOtherMasks) {
  EXPECT_EQ(refusal("attention_mask", {"f32[B, S]"}), "mask must be i64, got f32[B, S]");
  EXPECT_EQ(refusal("attention_mask", {"i64[S]"}), "mask must have 2 dimensions, got i64[S]");
}

}  // namespace
}  // namespace hone::testing
