#include "hone/train/text_examples.h"

#include <gtest/gtest.h>

#include "tests/support/evaluate.h"

namespace hone {
namespace {

using testing::elements_of;
using Integers = std::vector<std::int64_t>;

TEST(TextExamples, HaveTheNamesAndShapesOfAModelsGraph) {
  const EncodedSet set{.ids = {{2, 3}, {2, 7, 3}}, .labels = {1, 0}, .pad_id = 9};
  const Integers rows = {1, 0};
  const ExampleSource source = text_examples(set);
  EXPECT_EQ(source.lengths, (Integers{2, 3}));
  const NamedTensors inputs = source.batch(rows, 0);
  EXPECT_EQ(inputs.size(), 4u);
  EXPECT_EQ(inputs.at("input_ids").sizes(), (Sizes{2, 3}));
  EXPECT_EQ(elements_of<std::int64_t>(inputs.at("input_ids")), (Integers{2, 7, 3, 2, 3, 9}));
  EXPECT_EQ(inputs.at("attention_mask").sizes(), (Sizes{2, 3}));
  EXPECT_EQ(elements_of<std::int64_t>(inputs.at("attention_mask")), (Integers{1, 1, 1, 1, 1, 0}));
  EXPECT_EQ(elements_of<std::int64_t>(inputs.at("token_type_ids")), Integers(6, 0));
  EXPECT_EQ(inputs.at("labels").sizes(), (Sizes{2}));
  EXPECT_EQ(elements_of<std::int64_t>(inputs.at("labels")), (Integers{0, 1}));
  EXPECT_EQ(source.batch(rows, 8).at("input_ids").sizes(), (Sizes{2, 8}));
}

}  // namespace
}  // namespace hone
