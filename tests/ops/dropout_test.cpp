#include <gtest/gtest.h>

#include "hone/base/random.h"
#include "tests/support/evaluate.h"
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
  EXPECT_EQ(refusal("dropout", {"i64[4]", "i64[]"}, "p=0.5"), "x must be f32, got i64[4]");
}

}  // namespace
}  // namespace hone::testing
