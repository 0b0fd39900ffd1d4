#include "hone/app/data.h"

#include <gtest/gtest.h>

#include "tests/app/app_testing.h"
#include "tests/support/expect.h"
#include "tests/support/test_data.h"

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
                         set_aside = numbers(splits.source.validation);
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
    return numbers(split(numbered(100), {.validation_split = 0.2, .seed = seed}).source.validation);
  };
  EXPECT_EQ(chosen(1), chosen(1));
  EXPECT_NE(chosen(1), chosen(2));
}

TEST(Split, OfNothingLeavesAllToTraining) {
  const Splits splits = split(numbered(7), {.validation_split = 0});
  EXPECT_EQ(splits.source.train.size(), 7u);
  EXPECT_TRUE(splits.source.validation.empty());
  EXPECT_TRUE(split(numbered(0), {}).source.validation.empty());
}

TEST(Split, RefusesSharesThatAreNone) {
  for (const double share : {-0.1, 1.0, std::nan("")})
    expect_user_error("--validation_split: expected a share of at least 0 and below 1",
                      [&] { split(numbered(3), {.validation_split = share}); });
}

TEST(Split, SaysWhereTheValidationPartComesFrom) {
  const Splits carved = split(numbered(2000), {.validation_split = 0.1, .seed = 7});
  EXPECT_EQ(carved.validation_source, "200 of 2 000 training texts, set aside by seed 7");
  EXPECT_EQ(split(numbered(7), {.validation_split = 0}).validation_source, "none");
  EXPECT_EQ(to_string(carved.protocol), "honest");
}

TEST(Split, KeepsAValidationPartOfTheData) {
  DataSet data = numbered(100);
  data.validation = {{"own", 0}};
  const Splits splits = split(std::move(data), {.validation_split = 0.1});
  EXPECT_EQ(splits.source.train.size(), 100u);
  ASSERT_EQ(splits.source.validation.size(), 1u);
  EXPECT_EQ(splits.source.validation[0].text, "own");
  EXPECT_EQ(splits.validation_source, "1 texts of the data's own part");
}

TEST(Split, UnderTheOriginalProtocolChoosesOnTest) {
  DataSet data = numbered(100);
  data.validation = {{"own", 0}};
  const Splits splits = split(data, {.protocol = parse_protocol("original")});
  EXPECT_EQ(splits.source.train.size(), 100u);
  ASSERT_EQ(splits.source.validation.size(), 1u);
  EXPECT_EQ(splits.source.validation[0].text, "test");
  EXPECT_EQ(splits.validation_source, "the test part: choices are made on it");
  EXPECT_EQ(to_string(splits.protocol), "original");
  data.test.clear();
  expect_user_error(
      "--protocol original chooses on the test part, which the data does not have (numbers)",
      [&] { split(data, {.protocol = Protocol::original}); });
}

TEST(Protocol, RefusesOtherNames) {
  expect_user_error(
      "--protocol: expected honest or original, got 'orignal'; did you mean 'original'?",
      [] { parse_protocol("orignal"); });
}

TEST(Part, IsCalledByName) {
  Splits splits = split(numbered(10), {.validation_split = 0.2});
  EXPECT_EQ(part(splits, "train").size(), 8u);
  EXPECT_EQ(part(splits, "validation").size(), 2u);
  EXPECT_EQ(part(splits, "test").size(), 1u);
  EXPECT_EQ(&part(splits, ""), &splits.source.test);
  splits.source.test.clear();
  EXPECT_EQ(&part(splits, ""), &splits.source.validation);
  splits.source.validation.clear();
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

TextModel golden_model() {
  const fs::path golden = test_data() / "frontends" / "golden" / "safetensors";
  return open_model(golden.string(), testing::quiet_context(), /*seed=*/1);
}

TEST(EncodeSplits, SaysWhatWasCutAndReplaced) {
  Splits splits;
  splits.source.train = {{"a b c d e f g h", 0}, {"a", 1}};
  splits.source.test = {{"a \xff", 0}};
  splits.validation_source = "none of them";
  splits.protocol = Protocol::original;
  std::vector<std::string> warnings;
  const EncodedSplits encoded = encode_splits(golden_model(), splits, splits.source.test, 6,
                                              testing::quiet_context(), warnings);
  EXPECT_EQ(encoded.train.ids[0].size(), 6u);
  EXPECT_EQ(encoded.train.labels, (std::vector<std::int32_t>{0, 1}));
  EXPECT_EQ(encoded.validation.size(), 0);
  EXPECT_EQ(encoded.test.size(), 1);
  EXPECT_EQ(encoded.validation_source, "none of them");
  EXPECT_EQ(encoded.protocol, Protocol::original);
  EXPECT_EQ(warnings,
            (std::vector<std::string>{
                "train: 1 of 2 texts were cut to 6 tokens",
                "test: 1 ill-formed bytes were read as U+FFFD; the texts are not UTF-8"}));
}

TEST(EncodePart, CutsTextsToThePositionsOfTheModel) {
  std::string text;
  for (int i = 0; i < 600; ++i) text += "a ";
  std::vector<std::string> warnings;
  const EncodedSet encoded = encode_part(golden_model(), {{text, 0}}, "data", /*max_seq_length=*/0,
                                         testing::quiet_context(), warnings);
  EXPECT_EQ(encoded.ids[0].size(), 32u);
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
