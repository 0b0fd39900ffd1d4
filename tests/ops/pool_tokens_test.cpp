#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/evaluate.h"
#include "tests/support/refusal.h"

namespace hone::testing {
namespace {

constexpr float kPadding = 1e30f;  // would change any sum

// Three texts with two features per token: three tokens, one token after padding, none.
std::vector<float> pooled(std::string_view mode) {
  const std::string text = fmt::format(R"(%x = input : f32[B, S, 2]
%mask = input : i64[B, S]
%y = pool_tokens(%x, %mask) {{mode="{}"}} : f32[B, 2]
output y = %y)",
                                       mode);
  const std::vector<float> x = {1,        -2,       5,        -4,       3,        -9,  //
                                kPadding, kPadding, kPadding, kPadding, 7,        -8,  //
                                kPadding, kPadding, kPadding, kPadding, kPadding, kPadding};
  return evaluate(text, {{"x", Tensor::of<float>({3, 3, 2}, x)},
                         {"mask", Tensor::of<std::int64_t>({3, 3}, {1, 1, 1, 0, 0, 7, 0, 0, 0})}});
}

TEST(PoolTokens, TakesTheMeanOfTheTokensThatAreSet) {
  EXPECT_EQ(pooled("mean"), (std::vector<float>{3, -5, 7, -8, 0, 0}));
}

TEST(PoolTokens, TakesTheLargestOfThem) {
  EXPECT_EQ(pooled("max"), (std::vector<float>{5, -2, 7, -8, 0, 0}));
}

TEST(PoolTokens, HidesNothingThatIsNoNumber) {
  for (const std::string_view mode : {"mean", "max", "mean_sqrt_len"}) {
    const std::vector<float> y =
        evaluate(fmt::format(R"(%x = input : f32[1, 3, 2]
%mask = input : i64[1, 3]
%y = pool_tokens(%x, %mask) {{mode="{}"}} : f32[1, 2]
output y = %y)",
                             mode),
                 {{"x", Tensor::of<float>({1, 3, 2}, {1, 1, std::nanf(""), 2, 3, 3})},
                  {"mask", Tensor::of<std::int64_t>({1, 3}, {1, 1, 1})}});
    EXPECT_TRUE(std::isnan(y[0])) << mode;
    EXPECT_FALSE(std::isnan(y[1])) << mode;
  }
}

TEST(PoolTokens, DividesTheirSumByTheRootOfTheirNumber) {
  const float root = std::sqrt(3.0f);
  const std::vector<float> y = pooled("mean_sqrt_len");
  EXPECT_FLOAT_EQ(y[0], 9 / root);
  EXPECT_FLOAT_EQ(y[1], -15 / root);
  EXPECT_EQ(std::vector<float>(y.begin() + 2, y.end()), (std::vector<float>{7, -8, 0, 0}));
}

TEST(PoolTokens, HasTheSameBitsHoweverFarATextIsPadded) {
  constexpr std::string_view text = R"(%x = input : f32[1, S, 1]
%mask = input : i64[1, S]
%y = pool_tokens(%x, %mask) {mode="mean"} : f32[1, 1]
output y = %y)";
  const std::vector<float> alone =
      evaluate(text, {{"x", Tensor::of<float>({1, 3, 1}, {0.1f, 0.7f, 0.3f})},
                      {"mask", Tensor::of<std::int64_t>({1, 3}, {1, 1, 1})}});
  EXPECT_EQ(
      evaluate(text,
               {{"x", Tensor::of<float>({1, 5, 1}, {0.1f, 0.7f, 0.3f, std::nanf(""), kPadding})},
                {"mask", Tensor::of<std::int64_t>({1, 5}, {1, 1, 1, 0, 0})}}),
      alone);
}

TEST(PoolTokens, RefusesWhatDoesNotFit) {
  EXPECT_EQ(refusal("pool_tokens", {"f32[B, S, 4]", "i64[B, S]"}), "no error");
  EXPECT_EQ(refusal("pool_tokens", {"f32[B, 4]", "i64[B, S]"}),
            "x must have 3 dimensions, got f32[B, 4]");
  EXPECT_EQ(refusal("pool_tokens", {"i64[B, S, 4]", "i64[B, S]"}),
            "x must be f32, got i64[B, S, 4]");
  EXPECT_EQ(refusal("pool_tokens", {"f32[B, S, 4]", "f32[B, S]"}),
            "mask must be i64, got f32[B, S]");
  EXPECT_EQ(refusal("pool_tokens", {"f32[B, S, 4]", "i64[S]"}),
            "mask must have 2 dimensions, got i64[S]");
  EXPECT_EQ(refusal("pool_tokens", {"f32[B, S, 4]", "i64[3, S]"}),
            "rows of mask: expected B, got 3");
  EXPECT_EQ(refusal("pool_tokens", {"f32[B, S, 4]", "i64[B, 3]"}),
            "tokens of mask: expected S, got 3");
  EXPECT_EQ(refusal("pool_tokens", {"f32[B, S, 4]", "i64[B, S]"}, "mode=\"last\""),
            "mode must be mean, max or mean_sqrt_len, got last");
  EXPECT_EQ(refusal("pool_tokens_gradient", {"f32[B, S, 4]", "i64[B, S]", "f32[B, 5]"}),
            "dy must be f32[B, 4], got f32[B, 5]");
}

}  // namespace
}  // namespace hone::testing
