#include <gtest/gtest.h>

#include "tests/support/evaluate.h"
#include "tests/support/refusal.h"

namespace hone::testing {
namespace {

TEST(TokenPositions, CountTheTokensThatAreNoPaddingFromBehindIt) {
  EXPECT_EQ(evaluate<std::int64_t>(R"(%ids = input : i64[B, S]
%y = token_positions(%ids) {padding=1} : i64[B, S]
output y = %y)",
                                   {{"ids", Tensor::of<std::int64_t>({3, 4}, {0, 7, 2, 1,  //
                                                                              1, 1, 0, 2,  //
                                                                              0, 1, 9, 2})}}),
            (std::vector<std::int64_t>{2, 3, 4, 1,  //
                                       1, 1, 2, 3,  //
                                       2, 1, 3, 4}));
}

TEST(TokenPositions, RefusesWhatAreNoRowsOfTokens) {
  EXPECT_EQ(refusal("token_positions", {"f32[B, S]"}, "padding=1"),
            "ids must be i64, got f32[B, S]");
  EXPECT_EQ(refusal("token_positions", {"i64[S]"}, "padding=1"),
            "ids must have 2 dimensions, got i64[S]");
  EXPECT_EQ(refusal("token_positions", {"i64[B, S]"}, "padding=-1"),
            "padding must be at least 0, got -1");
}

}  // namespace
}  // namespace hone::testing
