#include "hone/text/batching.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "hone/base/random.h"
#include "tests/text/user_error.h"

namespace hone {
namespace {

using Values = std::vector<std::int64_t>;

EncodedSet small_set() {
  return {.ids = {{2, 9, 3}, {2, 3}, {2, 8, 7, 6, 3}}, .labels = {1, 0, 1}};
}

TEST(MakeBatch, PadsToTheLongestOfItsTexts) {
  const Batch batch = make_batch(small_set(), Values{1, 0}, 5);
  EXPECT_EQ(batch.batch, 2);
  EXPECT_EQ(batch.tokens, 3);
  EXPECT_EQ(batch.input_ids, (Values{2, 3, 5, 2, 9, 3}));
  EXPECT_EQ(batch.attention_mask, (Values{1, 1, 0, 1, 1, 1}));
  EXPECT_EQ(batch.token_type_ids, Values(6, 0));
  EXPECT_EQ(batch.labels, (Values{0, 1}));
}

TEST(MakeBatch, MarksTheSecondTextsOfPairs) {
  EncodedSet set = small_set();
  set.type_1_begins = {2, 2, 3};
  const Batch batch = make_batch(set, Values{0, 2}, 5);
  EXPECT_EQ(batch.token_type_ids, (Values{0, 0, 1, 0, 0, 0, 0, 0, 1, 1}));
}

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
  expect_user_error([&] { batches(order, 0); }, "batch size: expected at least 1, got 0");
}

TEST(PaddingShare, CountsThePaddingOfAllBatches) {
  // Batches (3, 2) and (5): 6 + 5 places for 10 tokens.
  EXPECT_DOUBLE_EQ(padding_share(small_set(), Values{0, 1, 2}, 2), 1.0 / 11.0);
  EXPECT_DOUBLE_EQ(padding_share(small_set(), Values{0, 1, 2}, 1), 0.0);
}

TEST(EncodeExamples, KeepsOrderLabelsAndFacts) {
  const Tokenizer tokenizer({.tokens = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "b"}});
  const std::vector<Example> examples = {{"a b a", 1}, {"b\xff", 0}};
  ThreadPool pool(2);
  const EncodedSet set = encode_examples(pool, tokenizer, examples, 4);
  EXPECT_EQ(set.size(), 2);
  EXPECT_EQ(set.ids[0], (std::vector<std::int32_t>{2, 4, 5, 3}));
  EXPECT_EQ(set.ids[1], (std::vector<std::int32_t>{2, 5, 3}));
  EXPECT_EQ(set.labels, (std::vector<std::int32_t>{1, 0}));
  EXPECT_EQ(set.truncated_texts, 1);
  EXPECT_EQ(set.replaced_bytes, 1);
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

}  // namespace
TEST(GroupByLength, KeepsAllExamplesAndPadsLess) {
  EncodedSet set;
  RandomSequence random(1, 2);
  for (int i = 0; i < 403; ++i) {
    set.ids.emplace_back(1 + random.below(60), 7);
    set.labels.push_back(0);
  }
  const std::vector<std::int64_t> shuffled = epoch_order(set.size(), 3, 0, true);
  std::vector<std::int64_t> grouped = shuffled;
  group_by_length(set, 8, 3, 0, grouped);
  // 50 batches of 8 are one stretch: within it neighbours differ by less than one token on average.
  EXPECT_GT(padding_share(set, shuffled, 8), 0.3);
  EXPECT_LT(padding_share(set, grouped, 8), 0.05);
  EXPECT_TRUE(std::is_permutation(grouped.begin(), grouped.end(), shuffled.begin()));
  std::vector<std::int64_t> other_epoch = shuffled;
  group_by_length(set, 8, 3, 1, other_epoch);
  EXPECT_NE(grouped, other_epoch);
}

}  // namespace hone
