#include "hone/base/inline_vector.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/support/expect.h"

namespace hone {
namespace {

using Few = InlineVector<int, 4>;

TEST(InlineVector, ChangesAsAVectorDoes) {
  Few few = {1, 2};
  std::vector<int> vector = {1, 2};
  const auto in_both = [&](auto&& change) {
    change(few);
    change(vector);
    EXPECT_TRUE(std::ranges::equal(few, vector));
  };
  in_both([](auto& v) { v.push_back(3); });
  in_both([](auto& v) { v.insert(v.begin(), 0); });
  in_both([](auto& v) { v.erase(v.begin() + 1); });
  in_both([](auto& v) { v.insert(v.end(), 9); });
  in_both([](auto& v) { v.erase(v.begin() + 1, v.begin() + 3); });
  in_both([](auto& v) { v.resize(4, 7); });
  in_both([](auto& v) { v.resize(1); });
  in_both([](auto& v) { v.pop_back(); });
  in_both([](auto& v) { v.resize(3); });
  in_both([](auto& v) { v.clear(); });
}

TEST(InlineVector, ComparesByWhatIsInIt) {
  Few a = {1, 2, 3};
  a.pop_back();
  EXPECT_EQ(a, (Few{1, 2}));
  EXPECT_NE(a, (Few{1, 2, 3}));
  EXPECT_LT(a, (Few{1, 3}));
  EXPECT_LT(Few{}, a);
}

TEST(InlineVector, RefusesMoreThanItHolds) {
  Few full = {1, 2, 3, 4};
  EXPECT_THROW(full.push_back(5), InternalError);
  EXPECT_THROW(full.insert(full.begin(), 5), InternalError);
  EXPECT_THROW(full.resize(5), InternalError);
  EXPECT_EQ(full, (Few{1, 2, 3, 4}));
  EXPECT_EQ(full.capacity(), 4u);
}

}  // namespace
}  // namespace hone
