#include "hone/data/encoded_set.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "hone/base/random.h"
#include "tests/support/expect.h"

namespace hone {
namespace {

using Values = std::vector<std::int64_t>;

EncodedSet small_set() {
  return {.ids = {{2, 9, 3}, {2, 3}, {2, 8, 7, 6, 3}}, .labels = {1, 0, 1}, .pad_id = 5};
}

TEST(MakeBatch, PadsToTheLongestOfItsTexts) {
  const Batch batch = make_batch(small_set(), Values{1, 0});
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
  const Batch batch = make_batch(set, Values{0, 2});
  EXPECT_EQ(batch.token_type_ids, (Values{0, 0, 1, 0, 0, 0, 0, 0, 1, 1}));
}

TEST(SelectExamples, TakesAllThatIsKnownOfThem) {
  EncodedSet set = small_set();
  set.truncated = {1, 0, 1};
  set.truncated_texts = 2;
  set.text_numbers = {0, 1, 1};
  set.task = Task::multi_label;
  set.targets = {1, 2, 3, 4, 5, 6};
  set.target_width = 2;
  set.pad_id = 7;
  const EncodedSet some = select_examples(set, Values{2, 1});
  EXPECT_EQ(some.ids, (std::vector{set.ids[2], set.ids[1]}));
  EXPECT_EQ(some.labels, (std::vector{set.labels[2], set.labels[1]}));
  EXPECT_EQ(some.targets, (std::vector<float>{5, 6, 3, 4}));
  EXPECT_EQ(some.truncated_texts, 1);
  EXPECT_EQ(some.text_numbers, (std::vector<std::int32_t>{0, 0}));  // numbered from 0 again
  EXPECT_EQ(some.pad_id, 7);
  EXPECT_EQ(some.task, Task::multi_label);
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

}  // namespace
}  // namespace hone
