#include <gtest/gtest.h>

#include "hone/base/random.h"
#include "tests/support/evaluate.h"
#include "tests/support/expect.h"
#include "tests/support/refusal.h"

namespace hone::testing {
namespace {

std::vector<float> dropped(double p, std::int64_t key, std::int64_t stream,
                           const std::vector<float>& x) {
  const std::string text = fmt::format(R"(%x = input : f32[T]
%key = input : i64[]
%y = dropout(%x, %key) {{p={:#}, stream={}}} : f32[T]
output y = %y)",
                                       p, stream);
  return evaluate(text, {{"x", Tensor::of<float>({static_cast<std::int64_t>(x.size())}, x)},
                         {"key", Tensor::scalar(key)}});
}

TEST(Dropout, KeepsWhereTheWordOfTheStreamIsAtLeastPAndScales) {
  const RandomStream random{5, 9};
  const std::vector<float> y = dropped(0.25, 5, 9, std::vector<float>(100, 3));
  for (std::size_t i = 0; i < y.size(); ++i)
    EXPECT_EQ(y[i], random.word(i) >= 0x40000000u ? 4.0f : 0.0f) << i;
}

TEST(Dropout, DrawsOtherNumbersForAnotherKeyOrStream) {
  const std::vector<float> x(64, 1);
  EXPECT_EQ(dropped(0.5, 1, 1, x), dropped(0.5, 1, 1, x));
  EXPECT_NE(dropped(0.5, 1, 1, x), dropped(0.5, 2, 1, x));
  EXPECT_NE(dropped(0.5, 1, 1, x), dropped(0.5, 1, 2, x));
}

TEST(Dropout, OfProbabilityZeroIsTheIdentity) {
  EXPECT_EQ(dropped(0.0, 1, 1, {1, -2, 3}), (std::vector<float>{1, -2, 3}));
}

// As in PyTorch: zeros, not the infinities that 1 / (1 - p) suggests.
TEST(Dropout, OfProbabilityOneLeavesNothing) {
  EXPECT_EQ(dropped(1.0, 1, 1, {1, -2, 3}), (std::vector<float>{0, 0, 0}));
}

// Returns the values of the second text, 3 tokens with 4 channels, in a batch of 2 padded to `tokens`.
std::vector<float> dropped_text(std::int64_t tokens, const std::string& limits) {
  const std::string text = fmt::format(R"(%x = input : f32[B, S, 4]
%key = input : i64[]
%y = dropout(%x, %key) {{p=0.5, stream=3, limits={}}} : f32[B, S, 4]
output y = %y)",
                                       limits);
  const std::vector<float> x(static_cast<std::size_t>(2 * tokens * 4), 1);
  const Tensor y = run_graph(parse(text), {{"x", Tensor::of<float>({2, tokens, 4}, x)},
                                           {"key", Tensor::scalar<std::int64_t>(1)}})
                       .at("y");
  return elements_of(y.slice(0, 1, 2).slice(1, 0, 3));
}

TEST(Dropout, DrawsByThePlaceWithinItsLimits) {
  const std::vector<float> alone = dropped_text(3, "[B, 8, 4]");
  for (const std::int64_t tokens : {4, 8})
    EXPECT_EQ(dropped_text(tokens, "[B, 8, 4]"), alone) << tokens;
  EXPECT_EQ(dropped_text(8, "[]"), alone);  // no limits: the places in the whole tensor
  EXPECT_EQ(dropped_text(8, "[B, S, 4]"), alone);
  EXPECT_NE(dropped_text(4, "[]"), alone);
}

TEST(Dropout, RefusesLimitsThatAreNone) {
  const auto of = [](const std::string& type, const std::string& limits) {
    return refusal("dropout", {type, "i64[]"}, "p=0.5, limits=" + limits);
  };
  EXPECT_EQ(of("f32[B, 3]", "[B, 3]"), "no error");
  EXPECT_EQ(of("f32[B, S]", "[4, 8]"), "no error");
  for (const char* limits : {"[B]", "[B, 2]", "[B, -4]", "[C, 3]", "[0, 3]", "[1099511627777, 3]"})
    EXPECT_EQ(of("f32[B, 3]", limits),
              fmt::format("limits of x f32[B, 3] must be at least its sizes, got {}", limits));
  expect_user_error("x [2, 9, 4] is larger than its limits [2, 8, 4]",
                    [] { dropped_text(9, "[B, 8, 4]"); });
}

TEST(Dropout, RefusesProbabilitiesOutsideItsRange) {
  EXPECT_EQ(refusal("dropout", {"f32[4]", "i64[]"}), "needs the attribute 'p'");
  EXPECT_EQ(refusal("dropout", {"f32[4]", "i64[]"}, "p=1"), "p must be a real number");
  EXPECT_EQ(refusal("dropout", {"f32[4]", "i64[]"}, "p=1.5"), "p must be from 0 to 1, got 1.5");
  EXPECT_EQ(refusal("dropout", {"f32[4]", "i64[]"}, "p=-0.5"), "p must be from 0 to 1, got -0.5");
}

TEST(Dropout, RefusesKeysThatAreNoScalarInteger) {
  EXPECT_EQ(refusal("dropout", {"f32[4]", "f32[]"}, "p=0.5"), "key must be i64, got f32[]");
  EXPECT_EQ(refusal("dropout", {"f32[4]", "i64[4]"}, "p=0.5"),
            "key must have 0 dimensions, got i64[4]");
  EXPECT_EQ(refusal("dropout", {"i64[4]", "i64[]"}, "p=0.5"),
            "x must be f32, bf16 or f16, got i64[4]");
}

}  // namespace
}  // namespace hone::testing
