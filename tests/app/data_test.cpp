#include "hone/app/data.h"

#include <gtest/gtest.h>

#include "tests/support/expect.h"

namespace hone {
namespace {

// Examples called "0", "1", …; tests have a "test" one.
DataSet numbered(std::int64_t count) {
  DataSet data;
  for (std::int64_t i = 0; i < count; ++i) data.train.push_back({std::to_string(i), 0});
  data.test = {{"test", 1}};
  data.description = "numbers";
  return data;
}

std::vector<int> numbers(const std::vector<Example>& examples) {
  std::vector<int> values;
  for (const Example& example : examples) values.push_back(std::stoi(example.text));
  return values;
}

TEST(Split, SetsARandomShareAsideInTheOldOrder) {
  const Splits splits = split(numbered(100), {.validation_split = 0.1, .seed = 1});
  const std::vector<int> train = numbers(splits.source.train),
                         set_aside = numbers(splits.validation);
  EXPECT_EQ(train.size(), 90u);
  EXPECT_EQ(set_aside.size(), 10u);
  EXPECT_TRUE(std::is_sorted(train.begin(), train.end()));
  EXPECT_TRUE(std::is_sorted(set_aside.begin(), set_aside.end()));
  std::vector<int> all = train;
  all.insert(all.end(), set_aside.begin(), set_aside.end());
  std::sort(all.begin(), all.end());
  for (int i = 0; i < 100; ++i) EXPECT_EQ(all[static_cast<std::size_t>(i)], i);
  EXPECT_EQ(splits.source.test.size(), 1u);
}

TEST(Split, DependsOnTheSeedAlone) {
  const auto chosen = [](std::uint64_t seed) {
    return numbers(split(numbered(100), {.validation_split = 0.2, .seed = seed}).validation);
  };
  EXPECT_EQ(chosen(1), chosen(1));
  EXPECT_NE(chosen(1), chosen(2));
}

TEST(Split, OfNothingLeavesAllToTraining) {
  const Splits splits = split(numbered(7), {.validation_split = 0});
  EXPECT_EQ(splits.source.train.size(), 7u);
  EXPECT_TRUE(splits.validation.empty());
  EXPECT_TRUE(split(numbered(0), {}).validation.empty());
}

TEST(Split, RefusesSharesThatAreNone) {
  for (const double share : {-0.1, 1.0, std::nan("")})
    expect_user_error("--validation_split: expected a share of at least 0 and below 1",
                      [&] { split(numbered(3), {.validation_split = share}); });
}

TEST(Part, IsCalledByName) {
  Splits splits = split(numbered(10), {.validation_split = 0.2});
  EXPECT_EQ(part(splits, "train").size(), 8u);
  EXPECT_EQ(part(splits, "validation").size(), 2u);
  EXPECT_EQ(part(splits, "test").size(), 1u);
  EXPECT_EQ(&part(splits, ""), &splits.source.test);
  splits.source.test.clear();
  EXPECT_EQ(&part(splits, ""), &splits.validation);
  splits.validation.clear();
  EXPECT_EQ(&part(splits, ""), &splits.source.train);
}

TEST(Part, RefusesUnknownAndEmptyParts) {
  Splits splits = split(numbered(10), {.validation_split = 0});
  expect_user_error("--split: expected train, validation or test, got 'dev'",
                    [&] { part(splits, "dev"); });
  expect_user_error("numbers: the validation split is empty", [&] { part(splits, "validation"); });
  splits.source.test.clear();
  expect_user_error("numbers: the test split is empty", [&] { part(splits, "test"); });
  splits.source.train.clear();
  expect_user_error("numbers: there are no examples", [&] { part(splits, ""); });
}

TEST(TextLimit, IsTheSmallestOfWishDefaultAndPositions) {
  EXPECT_EQ(text_limit(0, 512), 512u);
  EXPECT_EQ(text_limit(0, 1024), 512u);
  EXPECT_EQ(text_limit(0, 32), 32u);
  EXPECT_EQ(text_limit(128, 512), 128u);
  EXPECT_EQ(text_limit(1000, 512), 512u);
}

}  // namespace
}  // namespace hone
