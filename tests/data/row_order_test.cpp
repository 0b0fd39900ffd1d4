#include "hone/data/row_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "hone/base/random.h"
#include "tests/support/expect.h"

namespace hone {
namespace {

using Values = std::vector<std::int64_t>;

TEST(EpochOrder, IsTheIdentityUnlessShuffled) {
  EXPECT_EQ(epoch_order(4, 7, 3, false), (Values{0, 1, 2, 3}));
}

TEST(EpochOrder, IsAPermutationOfItsOwnForEverySeedAndEpoch) {
  const Values order = epoch_order(1000, 7, 0, true);
  Values sorted = order;
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(sorted, epoch_order(1000, 0, 0, false));
  EXPECT_EQ(order, epoch_order(1000, 7, 0, true));
  EXPECT_NE(order, epoch_order(1000, 7, 1, true));
  EXPECT_NE(order, epoch_order(1000, 8, 0, true));
}

TEST(Batches, KeepTheShortLastOne) {
  const Values order = {4, 2, 0, 1, 3};
  const auto cut = batches(order, 2);
  ASSERT_EQ(cut.size(), 3u);
  EXPECT_EQ(Values(cut[0].begin(), cut[0].end()), (Values{4, 2}));
  EXPECT_EQ(Values(cut[2].begin(), cut[2].end()), (Values{3}));
  EXPECT_TRUE(batches({}, 2).empty());
  expect_user_error("batch size: expected at least 1, got 0", [&] { batches(order, 0); });
}

TEST(PaddingShare, CountsThePaddingOfAllBatches) {
  // Batches (3, 2) and (5): 6 + 5 places for 10 tokens.
  EXPECT_DOUBLE_EQ(padding_share(Values{3, 2, 5}, Values{0, 1, 2}, 2), 1.0 / 11.0);
  EXPECT_DOUBLE_EQ(padding_share(Values{3, 2, 5}, Values{0, 1, 2}, 1), 0.0);
}

TEST(SampleRows, AreDifferentRowsDrawnBySeedAndPurpose) {
  const std::vector<std::int64_t> rows = sample_rows(100, 20, 1, "a purpose");
  ASSERT_EQ(rows.size(), 20u);
  EXPECT_EQ(std::set<std::int64_t>(rows.begin(), rows.end()).size(), 20u);
  for (const std::int64_t row : rows) EXPECT_TRUE(row >= 0 && row < 100) << row;
  EXPECT_EQ(rows, sample_rows(100, 20, 1, "a purpose"));
  EXPECT_NE(rows, sample_rows(100, 20, 2, "a purpose"));
  EXPECT_NE(rows, sample_rows(100, 20, 1, "another"));
}

TEST(SampleRows, OfASmallerSampleBeginTheGreaterOne) {
  const std::vector<std::int64_t> some = sample_rows(50, 10, 3, "p"),
                                  all = sample_rows(50, 80, 3, "p");
  ASSERT_EQ(all.size(), 50u);
  EXPECT_TRUE(std::equal(some.begin(), some.end(), all.begin()));
}

TEST(GroupByLength, KeepsAllExamplesAndPadsLess) {
  RandomSequence random(1, 2);
  Values lengths;
  for (int i = 0; i < 403; ++i) lengths.push_back(static_cast<std::int64_t>(1 + random.below(60)));
  const std::vector<std::int64_t> shuffled = epoch_order(std::ssize(lengths), 3, 0, true);
  std::vector<std::int64_t> grouped = shuffled;
  group_by_length(lengths, 8, 3, 0, grouped);
  // 50 batches of 8 are one sorted range. Neighbours in it differ by less than one token on average.
  EXPECT_GT(padding_share(lengths, shuffled, 8), 0.3);
  EXPECT_LT(padding_share(lengths, grouped, 8), 0.05);
  EXPECT_TRUE(std::is_permutation(grouped.begin(), grouped.end(), shuffled.begin()));
  std::vector<std::int64_t> other_epoch = shuffled;
  group_by_length(lengths, 8, 3, 1, other_epoch);
  EXPECT_NE(grouped, other_epoch);
}

}  // namespace
}  // namespace hone
