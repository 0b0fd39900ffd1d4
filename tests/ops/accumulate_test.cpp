#include <gtest/gtest.h>

#include "tests/support/evaluate.h"
#include "tests/support/refusal.h"

namespace hone::testing {
namespace {

std::vector<float> accumulated(std::int64_t first) {
  return evaluate(R"(%sum = input : f32[2]
%x = input : f32[2]
%first = input : i64[]
%y = accumulate(%sum, %x, %first) : f32[2]
output y = %y)",
                  {{"sum", Tensor::of<float>({2}, {1, -2})},
                   {"x", Tensor::of<float>({2}, {0.5f, 4})},
                   {"first", Tensor::scalar(first)}});
}

TEST(Accumulate, AddsToWhatIsThere) { EXPECT_EQ(accumulated(0), (std::vector<float>{1.5f, 2})); }

TEST(Accumulate, BeginsWithWhatComesFirst) {
  EXPECT_EQ(accumulated(1), (std::vector<float>{0.5f, 4}));
}

TEST(Accumulate, RefusesOperandsThatDoNotFit) {
  EXPECT_EQ(refusal("accumulate", {"f32[2]", "f32[3]", "i64[]"}),
            "sum and x must have one shape, got f32[2] and f32[3]");
  EXPECT_EQ(refusal("accumulate", {"f32[2]", "f32[2]", "f32[]"}), "first must be i64, got f32[]");
}

}  // namespace
}  // namespace hone::testing
