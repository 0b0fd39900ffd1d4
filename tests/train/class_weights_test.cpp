#include "hone/train/class_weights.h"

#include <gtest/gtest.h>

#include "tests/support/expect.h"

namespace hone {
namespace {

using Labels = std::vector<std::int32_t>;
using Weights = std::vector<float>;

// As sklearn.utils.class_weight.compute_class_weight("balanced", classes=[0, 1, 2], y=[0, 0, 0, 1, 2, 2]).
TEST(ClassWeights, BalancedAreThoseOfScikitLearn) {
  EXPECT_EQ(class_weights("balanced", Labels{0, 0, 0, 1, 2, 2}, {"a", "b", "c"}),
            (Weights{0.6666666666666666f, 2.0f, 1.0f}));
}

TEST(ClassWeights, OfAClassWithoutTextsIsZeroAndItDoesNotCountAmongTheClasses) {
  EXPECT_EQ(class_weights("balanced", Labels{0, 0, 0, 2}, {"a", "b", "c"}),
            (Weights{0.6666666666666666f, 0.0f, 2.0f}));
}

TEST(ClassWeights, CanBeGivenOneByOne) {
  EXPECT_EQ(class_weights("1, 2.5", Labels{0, 1}, {"a", "b"}), (Weights{1, 2.5f}));
  EXPECT_EQ(class_weights("", Labels{0, 1}, {"a", "b"}), Weights{});
}

TEST(ClassWeights, SayWhatWasExpected) {
  const auto weights = [](const char* choice) {
    return [choice] { class_weights(choice, Labels{0, 1}, {"bad", "good"}); };
  };
  expect_user_error("`class_weights`: expected 2 numbers, one for each of bad, good, got 3",
                    weights("1,2,3"));
  for (const char* choice : {"balance", "1,x", "1,0", "1,-2", "1,inf", "1,nan", "1,,2"})
    expect_user_error(
        fmt::format("`class_weights`: expected 'balanced' or a number above 0 for each of bad, "
                    "good, got '{}'",
                    choice),
        weights(choice));
}

}  // namespace
}  // namespace hone
