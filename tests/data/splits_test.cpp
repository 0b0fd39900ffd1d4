#include "hone/models/encoding.h"

#include <gtest/gtest.h>

#include "tests/support/expect.h"

namespace hone {
namespace {

// Returns examples "0", "1", … and a test split with the example "test".
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
    expect_user_error("`validation_split`: expected a share of at least 0 and below 1",
                      [&] { split(numbered(3), {.validation_split = share}); });
}

TEST(Split, SaysWhereTheValidationPartComesFrom) {
  const Splits carved = split(numbered(2000), {.validation_split = 0.1, .seed = 7});
  EXPECT_EQ(carved.validation_source.text, "200 of 2,000 training examples, set aside by seed 7");
  EXPECT_EQ(carved.validation_source.origin, ValidationOrigin::set_aside);
  EXPECT_EQ(split(numbered(7), {.validation_split = 0}).validation_source.origin,
            ValidationOrigin::none);
  EXPECT_EQ(to_string(carved.protocol), "honest");
}

TEST(Split, KeepsAValidationPartOfTheData) {
  DataSet data = numbered(100);
  data.validation = {{"own", 0}};
  const Splits splits = split(std::move(data), {.validation_split = 0.1});
  EXPECT_EQ(splits.source.train.size(), 100u);
  ASSERT_EQ(splits.source.validation.size(), 1u);
  EXPECT_EQ(splits.source.validation[0].text, "own");
  EXPECT_EQ(splits.validation_source.text, "1 examples of the data's validation split");
  EXPECT_EQ(splits.validation_source.origin, ValidationOrigin::data);
}

TEST(Split, UnderTheOriginalProtocolChoosesOnTest) {
  DataSet data = numbered(100);
  data.validation = {{"own", 0}};
  const Splits splits = split(data, {.protocol = parse_protocol("original")});
  EXPECT_EQ(splits.source.train.size(), 100u);
  ASSERT_EQ(splits.source.validation.size(), 1u);
  EXPECT_EQ(splits.source.validation[0].text, "test");
  EXPECT_EQ(splits.validation_source.text, "the test split: choices are made on it");
  EXPECT_EQ(splits.validation_source.origin, ValidationOrigin::test);
  EXPECT_EQ(to_string(splits.protocol), "original");
  data.test.clear();
  expect_user_error(
      "`protocol` original chooses on the test split, which the data does not have (numbers)",
      [&] { split(data, {.protocol = Protocol::original}); });
}

// Returns texts with many duplicates: "0" to "9", ten times over.
DataSet repeated() {
  DataSet data;
  for (int i = 0; i < 100; ++i) data.train.push_back({std::to_string(i % 10), i % 2});
  data.label_names = {"even", "odd"};
  return data;
}

TEST(Split, KeepsAllRowsWithOneTextOnOneSide) {
  for (const std::uint64_t seed : {1, 2, 3, 4, 5}) {
    const Splits splits = split(repeated(), {.validation_split = 0.3, .seed = seed});
    const std::vector<int> train = numbers(splits.source.train),
                           set_aside = numbers(splits.source.validation);
    EXPECT_FALSE(set_aside.empty());
    EXPECT_EQ(train.size() + set_aside.size(), 100u);
    EXPECT_EQ(set_aside.size() % 10, 0u);
    for (const int text : set_aside) EXPECT_EQ(std::ranges::count(train, text), 0) << text;
    EXPECT_TRUE(splits.source.warnings.empty());
  }
}

TEST(Split, CannotDivideASingleText) {
  DataSet data;
  data.train.assign(50, {"the same", 0});
  const Splits splits = split(std::move(data), {.validation_split = 0.5});
  EXPECT_EQ(splits.source.train.size(), 50u);
  EXPECT_EQ(splits.validation_source.origin, ValidationOrigin::none);
}

TEST(Split, CountsTextsThatStandInTwoParts) {
  DataSet data = numbered(20);
  data.label_names = {"zero", "one"};
  data.test = {{"3", 0}, {"5", 1}, {"new", 0}};
  data.validation = {{"7", 0}, {"newer", 1}, {"new", 0}};
  const Splits original = split(data, {.protocol = Protocol::original});
  EXPECT_EQ(original.identity.splits.back().validation_duplicate_rows, 0) << "it is one part";
  const Splits splits = split(std::move(data), {});
  ASSERT_EQ(splits.identity.splits.size(), 3u);
  EXPECT_EQ(splits.identity.splits[1].split, "validation");
  EXPECT_EQ(splits.identity.splits[1].duplicate_rows, 1);
  EXPECT_EQ(splits.identity.splits[2].duplicate_rows, 2);
  EXPECT_EQ(evaluation_examples(splits, "", std::nullopt).split.facts.duplicate_rows, 2);
  EXPECT_EQ(splits.identity.splits[1].validation_duplicate_rows, 0);
  EXPECT_EQ(splits.identity.splits[2].validation_duplicate_rows, 1);
  EXPECT_EQ(evaluation_examples(splits, "", std::nullopt).split.facts.validation_duplicate_rows, 1);
}

TEST(EvaluationExamples, MarkWhatTrainingAndChoicesUsed) {
  const auto seen = [](const EvaluationExamples& texts) {
    std::string marks;
    for (const Example& example : texts.examples) marks += example.seen ? '1' : '0';
    return marks;
  };
  DataSet data = numbered(20);
  data.label_names = {"zero", "one"};
  data.test = {{"3", 0}, {"7", 1}, {"new", 0}, {"old", 0}, {"set aside", 0}};
  data.validation = {{"7", 0}, {"newer", 1}};
  const TrainedOn record =
      after_training(TrainedOn{}, "data", {row_hash({"old", 0})}, {row_hash({"set aside", 0})});
  const Splits splits = split(data, {});
  EXPECT_EQ(seen(evaluation_examples(splits, "test", record)), "11011");
  EXPECT_EQ(seen(evaluation_examples(splits, "test", std::nullopt)), "11000");
  EXPECT_EQ(seen(evaluation_examples(splits, "validation", record)), "10")
      << "7 is in the training split; that choices are made on it goes without saying";
  EXPECT_EQ(
      seen(evaluation_examples(split(data, {.protocol = Protocol::original}), "test", record)),
      "00000");
  data.test.resize(2);
  EXPECT_EQ(seen(evaluation_examples(split(data, {}), "test", record)), "00")
      << "nothing would be left";
  for (int i = 0; i < 300; ++i) data.test.push_back({fmt::format("test {}", i), 0});
  const std::string few = seen(evaluation_examples(split(data, {}), "test", record));
  EXPECT_EQ(few.find('1'), std::string::npos) << "less than 1%";
}

TEST(Split, TakesSamplesBySeed) {
  const auto sizes = [](const Splits& splits) {
    return std::vector<std::size_t>{splits.source.train.size(), splits.source.validation.size(),
                                    splits.source.test.size()};
  };
  DataSet data = numbered(100);
  for (int i = 0; i < 50; ++i) data.test.push_back({fmt::format("test {}", i), 0});
  const SplitOptions options{
      .validation_split = 0.2, .seed = 3, .max_train_samples = 30, .max_eval_samples = 10};
  const Splits splits = split(data, options);
  EXPECT_EQ(sizes(splits), (std::vector<std::size_t>{30, 10, 10}));
  EXPECT_EQ(splits.validation_source.text,
            "20 of 100 training examples, set aside by seed 3; 10 of 20 of them, drawn by seed 3");
  EXPECT_EQ(splits.identity.rows, 151);
  EXPECT_EQ(splits.identity.splits[0].sample, "30 of 80 of them, drawn by seed 3");
  const std::string of_test = "10 of 51 of them, drawn by seed 3";
  EXPECT_EQ(evaluation_examples(splits, "", std::nullopt).split.origin,
            "the data's test split; " + of_test);
  EXPECT_EQ(evaluation_examples(
                split(data, {.seed = 3, .protocol = Protocol::original, .max_eval_samples = 10}),
                "validation", std::nullopt)
                .split.origin,
            "the test split: choices are made on it; " + of_test);
  EXPECT_EQ(split(data, {}).identity.splits.back().sample, "");
  const std::vector<int> train = numbers(splits.source.train);
  EXPECT_TRUE(std::ranges::is_sorted(train));
  EXPECT_GT(train.back(), 50) << "not the first ones";
  EXPECT_EQ(train, numbers(split(data, options).source.train));
  // The validation split does not depend on them.
  const std::vector<int> all =
      numbers(split(data, {.validation_split = 0.2, .seed = 3}).source.validation);
  for (const int text : numbers(splits.source.validation))
    EXPECT_TRUE(std::ranges::binary_search(all, text)) << text;
}

// Returns the training record of a model trained with these splits.
TrainedOn record_of(const Splits& splits) {
  return after_training(TrainedOn{}, splits.source.hash, row_hashes(splits.source.train),
                        row_hashes(splits.source.validation));
}

// Returns a single file without splits.
DataSet file_of(std::int64_t count) {
  DataSet data = numbered(count);
  data.test.clear();
  data.label_names = {"zero", "one"};
  return data;
}

TEST(SplitOfKnownData, FallsIntoTheOldPartsWhateverSeedShareAndOrder) {
  const Splits then = split(file_of(100), {.seed = 1});
  DataSet reversed = file_of(100);
  std::ranges::reverse(reversed.train);
  for (const DataUse use : {DataUse::training, DataUse::compression, DataUse::measurement}) {
    const Splits now = split(
        reversed, {.validation_split = 0.3, .seed = 7, .use = use, .record = record_of(then)});
    std::vector<int> set_aside = numbers(now.source.validation);
    std::ranges::reverse(set_aside);
    EXPECT_EQ(set_aside, numbers(then.source.validation));
    EXPECT_EQ(now.source.train.size(), 90u);
    EXPECT_EQ(now.validation_source.text, "the 10 of 100 examples that training set aside");
    const EvaluationExamples measured = evaluation_examples(now, "", record_of(then));
    EXPECT_EQ(measured.split.facts.split, "validation");
    EXPECT_EQ(measured.split.trained_on_rows, 0);
    EXPECT_EQ(measured.split.chosen_on_rows, 10);
  }
}

TEST(SplitOfKnownData, MeasuresOnNewRowsOrLearnsFromThem) {
  const TrainedOn record = record_of(split(file_of(100), {.seed = 1}));
  const auto sizes = [&](DataUse use) {
    const Splits now = split(file_of(130), {.use = use, .record = record});
    return std::pair(now.source.train.size(), now.source.validation.size());
  };
  EXPECT_EQ(sizes(DataUse::training), std::pair(std::size_t{120}, std::size_t{10}));
  EXPECT_EQ(sizes(DataUse::compression), std::pair(std::size_t{90}, std::size_t{40}));
  EXPECT_EQ(sizes(DataUse::measurement), std::pair(std::size_t{90}, std::size_t{40}));
  const Splits now = split(file_of(130), {.use = DataUse::measurement, .record = record});
  EXPECT_EQ(now.validation_source.text,
            "40 of 130 examples: 10 that training set aside, and 30 that "
            "are new to the model");
  // If the record is incomplete, examples missing from it may still have been trained on.
  TrainedOn part_of_it = record;
  part_of_it.complete = false;
  EXPECT_EQ(split(file_of(130), {.use = DataUse::measurement, .record = part_of_it})
                .validation_source.text,
            "40 of 130 examples: 10 that training set aside, and 30 that its record does not know");
  // If there is a test split, new examples join the training split.
  DataSet with_test = file_of(130);
  with_test.test = {{"test", 1}};
  EXPECT_EQ(
      split(with_test, {.use = DataUse::compression, .record = record}).source.validation.size(),
      10u);
}

TEST(SplitOfKnownData, WhereAllWasTrainedOnSaysSo) {
  const TrainedOn record = record_of(split(file_of(50), {.validation_split = 0}));
  const Splits now =
      split(file_of(50), {.validation_split = 0, .use = DataUse::measurement, .record = record});
  const EvaluationExamples measured = evaluation_examples(now, "", record);
  EXPECT_EQ(measured.split.facts.split, "all");
  EXPECT_EQ(measured.split.trained_on_rows, 50);
  const ValidationSource fresh =
      split(file_of(60), {.use = DataUse::measurement, .record = record}).validation_source;
  EXPECT_EQ(fresh.text, "the 10 of 60 examples that are new to the model");
  EXPECT_EQ(fresh.origin, ValidationOrigin::set_aside);
}

TEST(SplitOfOtherData, IsMeasuredWholeAndCounted) {
  const TrainedOn record = record_of(split(file_of(100), {.validation_split = 0}));
  DataSet other = file_of(10);
  for (int i = 0; i < 190; ++i) other.train.push_back({std::to_string(1000 + i), 1});
  const Splits now = split(std::move(other),
                           {.validation_split = 0, .use = DataUse::measurement, .record = record});
  const EvaluationExamples measured = evaluation_examples(now, "", record);
  EXPECT_EQ(measured.split.facts.split, "all");
  EXPECT_EQ(measured.split.facts.rows, 200);
  EXPECT_EQ(measured.split.trained_on_rows, 10);
}

TEST(EvaluationExamples, AreOfASplitByItsOwnName) {
  DataSet data = numbered(10);
  data.label_names = {"zero", "one"};
  data.validation = {{"new", 0}};
  data.requested_split = {"validation_mismatched", SplitRole::validation};
  const Splits splits = split(std::move(data), {});
  EXPECT_EQ(splits.validation_source.text, "1 examples of the data's split validation_mismatched");
  const EvaluationExamples measured =
      evaluation_examples(splits, "validation_mismatched", std::nullopt);
  EXPECT_EQ(measured.split.facts.split, "validation");
  EXPECT_EQ(measured.examples[0].text, "new");
  EXPECT_EQ(split_named(splits, "validation_mismatched").size(), 1u);
}

TEST(Split, TakesTheSameShareOfClassesThoughTextsRepeat) {
  DataSet data;
  for (int i = 0; i < 1000; ++i) {
    data.train.push_back({fmt::format("chat {}", i % 20), 0});
    data.train.push_back({fmt::format("report {}", i), 1});
  }
  data.label_names = {"chat", "report"};
  const Splits splits = split(std::move(data), {.validation_split = 0.1});
  EXPECT_EQ(splits.source.validation.size(), 200u);
  EXPECT_EQ(std::ranges::count(splits.source.validation, 0, &Example::label), 100);
  EXPECT_EQ(splits.validation_source.text, "200 of 2,000 training examples, set aside by seed 42");
}

TEST(EvaluationExamples, MayBeAllParts) {
  DataSet data = numbered(10);
  data.label_names = {"zero", "one"};
  const Splits splits = split(std::move(data), {.validation_split = 0.2});
  const EvaluationExamples all = evaluation_examples(splits, "all", std::nullopt);
  EXPECT_EQ(all.split.facts.split, "all");
  EXPECT_EQ(all.examples.size(), 11u);
  EXPECT_EQ(evaluation_examples(splits, "train", std::nullopt).split.facts.split, "train");
  expect_user_error("`split`: expected train, validation, test or all, got 'dev'",
                    [&] { evaluation_examples(splits, "dev", std::nullopt); });
}

TEST(EvaluationExamples, AreASampleWhereFewerAreWanted) {
  const Splits splits = split(
      file_of(100), {.validation_split = 0, .use = DataUse::measurement, .max_eval_samples = 12});
  const EvaluationExamples texts = evaluation_examples(splits, "", std::nullopt);
  EXPECT_EQ(texts.examples.size(), 12u);
  EXPECT_EQ(texts.split.facts.rows, 12);
  EXPECT_EQ(texts.split.origin, "all examples of the data; 12 of 100 of them, drawn by seed 42");
}

TEST(CheckTrainable, RefusesTextsOfOneClass) {
  Splits splits = split(repeated(), {.validation_split = 0});
  EXPECT_NO_THROW(check_trainable(splits));
  for (Example& example : splits.source.train) example.label = 1;
  expect_user_error("all 100 training examples are 'odd'; training needs at least two classes",
                    [&] { check_trainable(splits); });
}

TEST(Protocol, RefusesOtherNames) {
  expect_user_error(
      "`protocol`: expected honest or original, got 'orignal'; did you mean 'original'?",
      [] { parse_protocol("orignal"); });
}

TEST(Part, IsCalledByName) {
  Splits splits = split(numbered(10), {.validation_split = 0.2});
  EXPECT_EQ(split_named(splits, "train").size(), 8u);
  EXPECT_EQ(split_named(splits, "validation").size(), 2u);
  EXPECT_EQ(split_named(splits, "test").size(), 1u);
  EXPECT_EQ(&split_named(splits, ""), &splits.source.test);
  splits.source.test.clear();
  EXPECT_EQ(&split_named(splits, ""), &splits.source.validation);
  splits.source.validation.clear();
  EXPECT_EQ(&split_named(splits, ""), &splits.source.train);
}

TEST(Part, RefusesUnknownAndEmptyParts) {
  Splits splits = split(numbered(10), {.validation_split = 0});
  expect_user_error("`split`: expected train, validation, test or all, got 'dev'",
                    [&] { split_named(splits, "dev"); });
  expect_user_error("numbers: the validation split is empty",
                    [&] { split_named(splits, "validation"); });
  splits.source.test.clear();
  expect_user_error("numbers: the test split is empty", [&] { split_named(splits, "test"); });
  splits.source.train.clear();
  expect_user_error("numbers: there are no examples", [&] { split_named(splits, ""); });
}

}  // namespace
}  // namespace hone
