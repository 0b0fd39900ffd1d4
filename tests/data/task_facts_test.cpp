#include <gtest/gtest.h>

#include <cmath>

#include "hone/data/encoded_set.h"
#include "hone/data/splits.h"
#include "tests/support/expect.h"

// Facts about data whose targets are numbers or sets of labels.
namespace hone {
namespace {

using Names = std::vector<std::string>;

const LabelScheme kScores = {Task::regression, {"score"}};
const LabelScheme kTopics = {Task::multi_label, {"rude", "threat"}};

std::vector<Example> answered(const std::vector<std::vector<float>>& targets) {
  std::vector<Example> examples;
  for (const auto& one : targets)
    examples.push_back({.text = fmt::format("text {}", examples.size()), .targets = one});
  return examples;
}

SplitFacts facts_of_task(const std::vector<Example>& examples, const LabelScheme& scheme) {
  return split_facts("validation", examples, row_hashes(examples), scheme, {});
}

MeasuredSplit measured_task(const std::vector<Example>& examples, const LabelScheme& scheme) {
  return measured_split(facts_of_task(examples, scheme), "where from", examples,
                        row_hashes(examples), scheme.names,
                        after_training(TrainedOn{}, "data", {77}, {}));
}

DataSet data_of(const std::vector<Example>& examples, const LabelScheme& scheme) {
  DataSet data;
  data.train = examples;
  data.task = scheme.task;
  data.label_names = scheme.names;
  data.description = "d.csv: all";
  return data;
}

TEST(NumbersOfAPart, AreARangeAndAMean) {
  const std::vector<Example> examples = answered({{0}, {5}, {2.8F}});
  const SplitFacts facts = facts_of_task(examples, kScores);
  ASSERT_EQ(facts.numbers.size(), 1u);
  EXPECT_EQ(facts.numbers[0].least, 0);
  EXPECT_EQ(facts.numbers[0].greatest, 5);
  EXPECT_NEAR(facts.numbers[0].mean, 2.6, 1e-6);
  EXPECT_TRUE(facts.class_rows.empty());
  EXPECT_TRUE(std::isnan(facts.majority_share()));
  EXPECT_EQ(class_counts_text(facts, kScores.names), "numbers from 0.00 to 5.00, mean 2.60");
  const MeasuredSplit part = measured_task(examples, kScores);
  EXPECT_EQ(part.majority_label, "");
  EXPECT_EQ(to_json(measured_split_result(part))["majority_share"], Json());
  EXPECT_EQ(describe(part), "validation, n = 3: where from; numbers from 0.00 to 5.00, mean 2.60");
  EXPECT_EQ(warnings_of(part, kScores.names), Names{});
}

TEST(NumbersOfAPart, AreShownByTheirRange) {
  const auto text = [](const std::vector<std::vector<float>>& targets) {
    return class_counts_text(facts_of_task(answered(targets), kScores), {"score"});
  };
  EXPECT_EQ(text({{0.001F}, {0.003F}}), "numbers from 0.00100 to 0.00300, mean 0.00200");
  EXPECT_EQ(text({{-1000}, {2000}}), "numbers from -1000 to 2000, mean 500");
  EXPECT_EQ(text({{3}, {3}}), "numbers from 3.00 to 3.00, mean 3.00");
  const LabelScheme both = {Task::regression, {"joy", "fear"}};
  EXPECT_EQ(class_counts_text(facts_of_task(answered({{1, 0}, {2, 9}}), both), both.names),
            "joy from 1.00 to 2.00, mean 1.50; fear from 0.00 to 9.00, mean 4.50");
}

TEST(NumbersOfAPart, ThatAreAllTheSameAreAWarning) {
  EXPECT_EQ(
      warnings_of(measured_task(answered({{3}, {3}}), kScores), kScores.names),
      Names{"validation: 'score' is 3.00 for all 2 examples; metrics on one value do not show "
            "whether the model distinguishes examples"});
}

TEST(LabelsOfAPart, AreCountedWithTheTextsThatHaveNone) {
  const std::vector<Example> examples = answered({{1, 1}, {1, 0}, {0, 0}, {1, 0}});
  const SplitFacts facts = facts_of_task(examples, kTopics);
  EXPECT_EQ(facts.class_rows, (std::vector<std::int64_t>{3, 1}));
  EXPECT_EQ(facts.unlabelled_rows, 1);
  EXPECT_EQ(facts.classes_present(), 2u);
  EXPECT_TRUE(std::isnan(facts.majority_share()));
  EXPECT_EQ(class_counts_text(facts, kTopics.names), "rude 3, threat 1, none 1");
  const MeasuredSplit part = measured_task(examples, kTopics);
  EXPECT_EQ(describe(part), "validation, n = 4: where from; rude 3, threat 1, none 1");
  EXPECT_EQ(warnings_of(part, kTopics.names),
            Names{"validation: very few examples of 'rude' (3), 'threat' (1), so their metrics are "
                  "uncertain"});
  EXPECT_EQ(warnings_of(measured_task(answered({{0, 0}}), kTopics), kTopics.names),
            Names{"validation: no examples of 'rude', 'threat', so their metrics are unknown"});
}

TEST(FactsAsJson, AreThoseOfTheTask) {
  const auto part = [](const std::vector<std::vector<float>>& targets, const LabelScheme& scheme) {
    DataIdentity identity{"d", "h", 2, scheme.names, {facts_of_task(answered(targets), scheme)}};
    return to_json(data_result(identity))["splits"][0];
  };
  const Json numbers = part({{1}, {2}}, kScores);
  EXPECT_EQ(to_line(numbers["numbers"]), R"({"score":{"min":1.0,"max":2.0,"mean":1.5}})");
  EXPECT_TRUE(numbers["classes"].is_null());
  EXPECT_TRUE(numbers["majority_share"].is_null());
  const Json labels = part({{1, 0}, {0, 0}}, kTopics);
  EXPECT_EQ(to_line(labels["classes"]), R"({"rude":1,"threat":0})");
  EXPECT_EQ(labels["unlabelled_rows"], 1);
  EXPECT_TRUE(labels["majority_share"].is_null());
  const Json classes = part({{}, {}}, {Task::single_label, {"a"}});
  EXPECT_TRUE(classes["unlabelled_rows"].is_null() && classes["numbers"].is_null());
}

TEST(FingerprintOfAPart, IsOfTheAnswersToo) {
  const auto hash = [](const std::vector<std::vector<float>>& targets, const LabelScheme& scheme) {
    return measured_task(answered(targets), scheme).texts_hash;
  };
  EXPECT_NE(hash({{1}, {2}}, kScores), hash({{1}, {2.5F}}, kScores));
  EXPECT_NE(hash({{1, 0}}, kTopics), hash({{1, 1}}, kTopics));
  EXPECT_EQ(hash({{1, 0}}, kTopics), hash({{0, 1}}, {Task::multi_label, {"threat", "rude"}}))
      << "the same labels, in another order";
}

TEST(TrainingWarnings, SayThatOneTextHasTwoAnswers) {
  std::vector<Example> examples = answered({{1}, {2}, {3}});
  examples.push_back(examples[0]);
  examples.push_back({.text = "text 1", .targets = {2.5F}});
  EXPECT_EQ(training_warnings(data_of(examples, kScores)),
            Names{"train: 1 example is repeated with different numbers"});
  examples = answered({{1, 0}, {0, 1}});
  examples.push_back({.text = "text 1", .targets = {1, 1}});
  EXPECT_EQ(training_warnings(data_of(examples, kTopics)),
            Names{"train: 1 example is repeated with different labels"});
}

TEST(TrainingWarnings, NameLabelsOfNextToNoTexts) {
  std::vector<std::vector<float>> targets(300, {1, 0});
  targets[7] = {0, 1};
  DataSet data = data_of(answered(targets), kTopics);
  data.label_places = {"d.csv: line 2", "d.csv: line 9"};
  EXPECT_EQ(training_warnings(data), Names{"label 'threat': only 1 of 300 training examples has "
                                           "it, first in d.csv: line 9; is it a typing error?"});
  EXPECT_EQ(training_warnings(data_of(answered({{0, 0}, {0, 0}}), kTopics)), Names{});
}

TEST(TrainableData, AnswersTextsInMoreThanOneWay) {
  const auto splits = [](const std::vector<std::vector<float>>& targets,
                         const LabelScheme& scheme) {
    Splits splits;
    splits.source = data_of(answered(targets), scheme);
    return splits;
  };
  EXPECT_NO_THROW(check_trainable(splits({{1}, {1}, {2}}, kScores)));
  expect_user_error(
      "d.csv: all: all 2 training examples have the same number; training needs numbers "
      "that differ. Is it the right label column, and was the file cut?",
      [&] {
        check_trainable(splits({{1}, {1}}, kScores));
      });
  expect_user_error("d.csv: all: there are no examples to train on",
                    [&] { check_trainable(splits({}, kScores)); });
  EXPECT_NO_THROW(check_trainable(splits({{1, 0}, {1, 1}}, kTopics)));
  for (const std::vector<float>& same : {std::vector<float>{1, 0}, std::vector<float>{0, 0}})
    expect_user_error(
        "d.csv: all: all 2 training examples have the same labels; training needs a "
        "label that some examples have and others do not.",
        [&] {
          check_trainable(splits({same, same}, kTopics));
        });
}

TEST(EncodedTargets, StandInTheRowsOfTheirTexts) {
  const Tokenizer tokenizer({.tokens = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "a"}});
  ThreadPool pool(2);
  const EncodedSet set =
      encode_examples(pool, tokenizer, answered({{1, 0}, {0, 1}, {1, 1}}), 8, Task::multi_label);
  EXPECT_EQ(set.task, Task::multi_label);
  EXPECT_EQ(set.target_width, 2);
  EXPECT_EQ(set.targets, (std::vector<float>{1, 0, 0, 1, 1, 1}));
  EXPECT_EQ(set.labels, (std::vector<std::int32_t>{0, 0, 0}));
  const std::vector<std::int64_t> rows = {2, 0};
  const Batch batch = make_batch(set, rows);
  EXPECT_EQ(batch.target_width, 2);
  EXPECT_EQ(batch.targets, (std::vector<float>{1, 1, 1, 0}));
  const std::vector<Example> plain = {{"a", 1}};
  const EncodedSet classes = encode_examples(pool, tokenizer, plain, 8);
  EXPECT_EQ(classes.task, Task::single_label);
  EXPECT_EQ(classes.target_width, 0);
  EXPECT_TRUE(classes.targets.empty());
}

TEST(TaskFacts, SayThatNumbersLieFarFromWhereTrainingBegins) {
  const auto warnings = [](const std::vector<std::vector<float>>& targets) {
    return training_warnings(data_of(answered(targets), kScores));
  };
  EXPECT_EQ(
      warnings({{1e6f}, {5e6f}, {3e6f}}),
      Names{"train: 'score' ranges from 1000000 to 5000000, mean 3000000; a new model predicts "
            "numbers near 0 and learns best from numbers that spread by about 1: train on "
            "(x - 3000000) / 1e+06, and convert the predictions back"});
  EXPECT_EQ(warnings({{0.001f}, {0.002f}}).size(), 1u) << "numbers that hardly differ";
  EXPECT_TRUE(warnings({{0}, {5}, {1}}).empty());
  EXPECT_TRUE(warnings({{5}, {5}}).empty()) << "one number, which is said elsewhere";
}

}  // namespace
}  // namespace hone
