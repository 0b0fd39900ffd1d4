#include "hone/data/data_facts.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

namespace hone {
namespace {

using Names = std::vector<std::string>;

const Names kLabels = {"bad", "good"};

// Returns `bad` texts "bad 0", "bad 1", … and `good` texts.
std::vector<Example> reviews(int bad, int good) {
  std::vector<Example> examples;
  for (int i = 0; i < bad; ++i) examples.push_back({fmt::format("bad {}", i), 0});
  for (int i = 0; i < good; ++i) examples.push_back({fmt::format("good {}", i), 1});
  return examples;
}

SplitFacts facts_of(const std::string& part, const std::vector<Example>& examples,
                    const RowSet& training_rows = {}) {
  return split_facts(part, examples, row_hashes(examples), {.names = kLabels}, training_rows);
}

MeasuredSplit measured(const std::vector<Example>& examples,
                       const std::optional<TrainedOn>& record = std::nullopt,
                       const RowSet& training_rows = {}) {
  return measured_split(facts_of("test", examples, training_rows), "where from", examples,
                        row_hashes(examples), kLabels, record);
}

TEST(SplitFacts, CountClasses) {
  const SplitFacts facts = facts_of("train", reviews(3, 1));
  EXPECT_EQ(facts.rows, 4);
  EXPECT_EQ(facts.class_rows, (std::vector<std::int64_t>{3, 1}));
  EXPECT_EQ(facts.majority_share(), 0.75);
  EXPECT_EQ(facts.majority_class(), 0u);
  EXPECT_EQ(facts.classes_present(), 2u);
  EXPECT_TRUE(std::isnan(facts_of("test", {}).majority_share()));
  EXPECT_EQ(class_counts_text(facts, kLabels), "bad 3, good 1");
}

TEST(SplitFacts, OfManyClassesNameTheRarestAndTheMostFrequent) {
  SplitFacts facts{.split = "train", .rows = 1260, .class_rows = {50, 7, 100, 1000, 51, 52, 0}};
  const Names labels = {"a", "b", "c", "d", "e", "f", "g"};
  EXPECT_EQ(class_counts_text(facts, labels), "7 classes, from g 0 to d 1,000");
}

TEST(MeasuredSplit, CountsWhatTheModelHasSeen) {
  const std::vector<Example> examples = reviews(3, 2);
  TrainedOn record =
      after_training(TrainedOn{}, "data", {row_hash(examples[0]), row_hash(examples[4]), 77},
                     {row_hash(examples[1])});
  record = after_calibration(record, "data", {row_hash(examples[0])});
  const MeasuredSplit part = measured(examples, record);
  EXPECT_EQ(part.trained_on_rows, 2);
  EXPECT_EQ(part.chosen_on_rows, 1);
  EXPECT_EQ(part.calibrated_on_rows, 1);
  const Json json = to_json(measured_split_result(part));
  EXPECT_EQ(json["split"], "test");
  EXPECT_EQ(json["n"], 5);
  EXPECT_EQ(json["trained_on_rows"], 2);
  EXPECT_EQ(json["chosen_on_rows"], 1);
  EXPECT_EQ(json["calibrated_on_rows"], 1);
  EXPECT_EQ(json["majority_share"], 0.6);
  EXPECT_EQ(describe(part),
            "test, n = 5, 2 of them trained on: where from; always predicting 'bad' scores 60.0%");
}

TEST(MeasuredSplit, KnowsItsTextsWhateverTheirOrder) {
  const std::vector<Example> examples = reviews(3, 2);
  std::vector<Example> reversed(examples.rbegin(), examples.rend()), relabelled = examples,
                                                                     others = reviews(2, 3);
  relabelled[0].label = 1;
  const std::string hash = to_json(measured_split_result(measured(examples)))["examples_hash"];
  EXPECT_EQ(hash.size(), 32u);
  EXPECT_EQ(measured(reversed).texts_hash, hash);
  EXPECT_NE(measured(relabelled).texts_hash, hash);
  EXPECT_NE(measured(others).texts_hash, hash);
}

TEST(MeasuredSplit, OfAModelWithoutRecordHasNoCounts) {
  const Json json = to_json(measured_split_result(measured(reviews(1, 1))));
  for (const char* key : {"trained_on_rows", "chosen_on_rows", "calibrated_on_rows"})
    EXPECT_TRUE(json[key].is_null()) << key;
  // Calibrated here, trained elsewhere.
  const MeasuredSplit part =
      measured(reviews(1, 1), after_calibration(std::nullopt, "data", {row_hash({"bad 0", 0})}));
  EXPECT_EQ(part.trained_on_rows, std::nullopt);
  EXPECT_EQ(part.calibrated_on_rows, 1);
}

TEST(Cautions, SayThatNothingIsKnownOfWhatWasTrainedOn) {
  const std::vector<Example> examples = reviews(12, 12);
  EXPECT_EQ(cautions(measured(examples)), Names{"may be trained on"});
  EXPECT_EQ(name_and_size(measured(examples)), "test, n = 24, may be trained on");
  EXPECT_EQ(cautions(measured({})), Names{}) << "there are no figures to be careful with";
  // The record began late. It contains none of the examples, or some.
  const auto later = [&](int count) {
    return after_training(std::nullopt, "data", row_hashes(reviews(count, 1)), {});
  };
  EXPECT_EQ(cautions(measured(reviews(12, 0), later(0))), Names{"may be trained on"});
  EXPECT_EQ(cautions(measured(examples, later(4))), Names{"at least 5 of them trained on"});
  EXPECT_EQ(cautions(measured(reviews(4, 0), later(4))), Names{"all of them trained on"});
}

// The name of the split already implies that choices are made on it.
TEST(Cautions, AboutChoicesAreLeftOutOfTheNameOfTheValidationSplit) {
  MeasuredSplit part;
  part.facts = {.split = "validation", .rows = 300};
  part.trained_on_rows = 0;
  part.chosen_on_rows = 300;
  EXPECT_EQ(cautions(part), Names{"all of them used for choices"});
  EXPECT_EQ(name_and_size(part), "validation, n = 300");
  part.facts.split = "test";
  EXPECT_EQ(name_and_size(part), "test, n = 300, all of them used for choices");
}

TEST(Cautions, OfFewExamplesAreStatedOnce) {
  MeasuredSplit part;
  part.facts = {.split = "test", .rows = 7000, .duplicate_rows = 6};
  part.trained_on_rows = 6;
  part.majority_label = "good";
  EXPECT_EQ(name_and_size(part), "test, n = 7,000");
  EXPECT_EQ(notable_cautions(part), Names{});
  EXPECT_EQ(cautions(part), Names{"6 of them trained on"});
  EXPECT_TRUE(describe(part).starts_with("test, n = 7,000, 6 of them trained on: "))
      << describe(part);
  const std::string warning = warnings_of(part, {}).at(0);
  EXPECT_NE(warning.find("up to 0.09 points too high"), std::string::npos) << warning;
  part.trained_on_more = true;  // the record is incomplete
  EXPECT_EQ(name_and_size(part), "test, n = 7,000, at least 6 of them trained on");
  part.facts.duplicate_rows = 0;
  EXPECT_EQ(warnings_of(part, {}).at(0).find("at most"), std::string::npos);
  part.trained_on_more = false;
  part.trained_on_rows = 70;
  EXPECT_EQ(name_and_size(part), "test, n = 7,000, 70 of them trained on");
}

TEST(Cautions, SayWhatIsUntrained) {
  const std::vector<Example> examples = reviews(12, 12);
  EXPECT_EQ(cautions(measured(examples, TrainedOn{})), Names{"untrained weights"});
  EXPECT_EQ(cautions(measured(examples, TrainedOn{.complete = false, .untrained_head = true})),
            Names{"untrained head"})
      << "at chance, texts that are known flatter nothing";
}

TEST(Warnings, AreNoneWhereNothingFlatters) {
  EXPECT_EQ(warnings_of(measured(reviews(12, 12), TrainedOn{}), kLabels), Names{});
}

TEST(Warnings, SayHowManyTextsWereTrainedOn) {
  const std::vector<Example> examples = reviews(12, 12);
  const auto trained_on = [&](std::size_t count) {
    return after_training(TrainedOn{}, "data", row_hashes(std::span(examples).first(count)), {});
  };
  EXPECT_EQ(
      warnings_of(measured(examples, trained_on(5)), kLabels),
      Names{"test: the model was trained on 5 of 24 examples, so the metrics are too optimistic"});
  EXPECT_EQ(warnings_of(measured(examples, trained_on(24)), kLabels),
            Names{"test: the model was trained on all 24 examples; the metrics show how well it "
                  "learned them, not how it does on new ones"});
  // The training split also contains these texts.
  const RowSet training = trained_on(5).trained;
  EXPECT_EQ(warnings_of(measured(examples, trained_on(5), training), kLabels),
            Names{"5 of 24 test examples are also in the training split, so the metrics are too "
                  "optimistic"});
}

// Training a model without a record does not mean that it has seen no other examples.
TEST(MeasuredSplit, DoesNotCallNoneFoundNoneWhereTheRecordBeganLate) {
  const std::vector<Example> examples = reviews(12, 12);
  const TrainedOn elsewhere = after_training(std::nullopt, "data", row_hashes(reviews(0, 1)), {});
  const MeasuredSplit unknown = measured(reviews(12, 0), elsewhere);
  EXPECT_FALSE(unknown.trained_on_rows);
  EXPECT_TRUE(unknown.trained_on_more);
  EXPECT_TRUE(to_json(measured_split_result(unknown))["trained_on_rows"].is_null());
  const MeasuredSplit some = measured(examples, elsewhere);
  EXPECT_EQ(some.trained_on_rows, 1) << "what is known is said";
  EXPECT_TRUE(some.trained_on_more);
  EXPECT_FALSE(measured(examples, after_training(TrainedOn{}, "data", {}, {})).trained_on_more);
}

TEST(Warnings, SayThatChoicesWereMadeOnTheTestPart) {
  const std::vector<Example> examples = reviews(12, 12);
  const TrainedOn record =
      after_training(TrainedOn{}, "data", {}, row_hashes(std::span(examples).first(3)));
  EXPECT_EQ(
      warnings_of(measured(examples, record), kLabels),
      Names{"test: 3 of 24 examples were used for choices, so the metrics are too optimistic"});
}

TEST(Warnings, NameClassesWithNextToNoTexts) {
  EXPECT_EQ(warnings_of(measured(reviews(20, 0)), kLabels),
            Names{"test: all 20 examples are 'bad'; metrics on one class do not show whether the "
                  "model distinguishes it from others"});
  EXPECT_EQ(warnings_of(measured(reviews(20, 9)), kLabels),
            Names{"test: very few examples of 'good' (9), so their metrics are uncertain"});
  MeasuredSplit part = measured(reviews(20, 9));
  part.facts.class_rows.push_back(0);
  EXPECT_EQ(warnings_of(part, {"bad", "good", "so so"}),
            (Names{"test: no examples of 'so so', so their metrics are unknown",
                   "test: very few examples of 'good' (9), so their metrics are uncertain"}));
}

DataSet training_data(std::vector<Example> examples, Names labels) {
  DataSet data;
  data.train = std::move(examples);
  data.label_names = std::move(labels);
  return data;
}

TEST(TrainingWarnings, NameAStrayLabelWithItsPlace) {
  std::vector<Example> examples = reviews(500, 500);
  examples.push_back({"fine", 2});
  DataSet data = training_data(examples, {"bad", "good", "goood"});
  data.label_places = {"reviews.csv: line 2", "reviews.csv: line 3", "reviews.csv: line 987"};
  EXPECT_EQ(
      training_warnings(data),
      Names{"label 'goood': only 1 of 1,001 training examples has it, first in reviews.csv: line "
            "987; is it a typing error?"});
  data.label_places.clear();
  EXPECT_EQ(
      training_warnings(data),
      Names{"label 'goood': only 1 of 1,001 training examples has it; is it a typing error?"});
}

TEST(TrainingWarnings, LetRareClassesBe) {
  EXPECT_EQ(training_warnings(training_data(reviews(900, 12), kLabels)), Names{});
  std::vector<Example> many;
  Names labels;
  for (int i = 0; i < 77; ++i) {
    labels.push_back(std::to_string(i));
    for (int k = 0; k < 5; ++k) many.push_back({fmt::format("{} {}", i, k), i});
  }
  EXPECT_EQ(training_warnings(training_data(many, labels)), Names{});
}

TEST(TrainingWarnings, CountTextsWithTwoLabels) {
  std::vector<Example> examples = reviews(30, 30);
  examples.push_back({"bad 3", 1});
  examples.push_back({"bad 3", 0});
  examples.push_back({"good 4", 1});
  EXPECT_EQ(training_warnings(training_data(examples, kLabels)),
            Names{"train: 1 example is repeated with different labels"});
  examples.push_back({"good 4", 0});
  EXPECT_EQ(training_warnings(training_data(examples, kLabels)),
            Names{"train: 2 examples are repeated with different labels"});
}

TEST(MeasuredSplit, SaysThatTextsRepeat) {
  std::vector<Example> examples = reviews(20, 20);
  for (int i = 0; i < 3; ++i) examples.push_back(examples.front());
  const MeasuredSplit part = measured(examples, after_training(TrainedOn{}, "data", {77}, {}));
  EXPECT_EQ(part.facts.repeated_rows, 3);
  EXPECT_EQ(to_json(measured_split_result(part))["repeated_rows"], 3);
  ASSERT_FALSE(warnings_of(part, kLabels).empty());
  EXPECT_TRUE(warnings_of(part, kLabels)[0].starts_with(
      "test: 3 of 43 rows repeat an earlier one; intervals and verdicts use an effective sample "
      "size of 34: "))
      << warnings_of(part, kLabels)[0];
  // One text four times, 39 once: 43² / (4² + 39).
  EXPECT_DOUBLE_EQ(43 * part.facts.evidence, 43.0 * 43 / 55);
  EXPECT_EQ(to_json(measured_split_result(part))["effective_n"], 34);
  EXPECT_EQ(name_and_size(part), "test, n = 43 (effective 34)");
}

// Returns a training file and a test file that repeats its texts from the second on.
DataSet with_duplicates(int count) {
  DataSet data;
  data.files = {{"train.csv", "line"}, {"test.csv", "line"}};
  for (int i = 0; i < count; ++i) {
    data.train.push_back({.text = fmt::format("text {}", i), .file = 0, .row = i + 2});
    data.test.push_back({.text = fmt::format("Text {}", i + 1), .file = 1, .row = i + 2});
  }
  return data;
}

TEST(Duplicates, AreNamed) {
  const auto warning = [](int count) {
    const DataSet data = with_duplicates(count);
    SplitFacts facts = facts_of("test", data.test, row_set(row_hashes(data.train)));
    facts.duplicates = duplicate_rows(data.test, data.train, data.files);
    EXPECT_EQ(facts.duplicates.size(), std::min(data.train.size() - 1, kNamedDuplicates));
    MeasuredSplit part;
    part.facts = facts;
    return warnings_of(part, {})[0];
  };
  EXPECT_EQ(warning(3),
            "2 of 3 test examples are also in the training split, so the metrics are too "
            "optimistic: test.csv: line 2 is train.csv: line 3; and 1 more");
  EXPECT_TRUE(warning(40).ends_with(": test.csv: line 2 is train.csv: line 3; and 38 more"))
      << warning(40);
  warning(300);
  EXPECT_TRUE(duplicate_rows(reviews(1, 1), reviews(1, 1), {}).empty())
      << "made, not read: there is no place to name";
}

// Choices are made on validation, and results are reported on test.
TEST(Duplicates, OfValidationAndTestAreNamedToo) {
  MeasuredSplit part;
  part.facts = {.split = "test",
                .rows = 9,
                .validation_duplicate_rows = 2,
                .validation_duplicates = {{"test.csv: line 2", "validation.csv: line 3"},
                                          {"test.csv: line 4", "validation.csv: line 5"}}};
  part.trained_on_rows = 0;
  part.chosen_on_rows = 2;
  EXPECT_EQ(cautions(part), std::vector<std::string>{"2 of them also in the validation split"});
  EXPECT_EQ(warnings_of(part, {}),
            std::vector<std::string>{"2 of 9 test examples are also in the validation split, where "
                                     "choices are made, so the metrics of the chosen model are too "
                                     "optimistic: test.csv: line 2 is validation.csv: line "
                                     "3; and 1 more"});
  part.chosen_on_rows = 3;  // one more from an earlier training
  EXPECT_EQ(cautions(part), std::vector<std::string>{"3 of them used for choices"});
  EXPECT_EQ(warnings_of(part, {}).size(), 2u);
}

TEST(Duplicates, OfTwoSplitsAreOneWarning) {
  MeasuredSplit part;
  part.facts = {.split = "test",
                .rows = 9,
                .duplicate_rows = 3,
                .duplicates = {{"test.csv: line 2", "train.csv: line 3"}},
                .validation_duplicate_rows = 2};
  part.trained_on_rows = 3;
  part.chosen_on_rows = 2;
  EXPECT_EQ(cautions(part), (Names{"3 of them trained on",
                                   "2 of them also in the validation "
                                   "split"}));
  EXPECT_EQ(first_caution(part), Names{"3 of them trained on"});
  const std::vector<std::string> warnings = warnings_of(part, {});
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_TRUE(
      warnings[0].starts_with("3 of 9 test examples are also in the training split and 2 "
                              "in the validation split, so the metrics are too "))
      << warnings[0];
}

TEST(Duplicates, AreInTheDataOfResults) {
  const DataSet data = with_duplicates(2);
  SplitFacts facts = facts_of("test", data.test, row_set(row_hashes(data.train)));
  facts.duplicates = duplicate_rows(data.test, data.train, data.files);
  const Json json = to_json(data_result(DataIdentity{"d", "99aa", 4, kLabels, {facts}}));
  EXPECT_EQ(json["splits"][0]["duplicates"],
            Json::parse(R"({"test.csv: line 2": "train.csv: line 3"})"));
}

TEST(DataIdentity, SaysWhichDataAndWhichSplits) {
  const DataIdentity identity{
      "reviews.csv",
      "99aa",
      6,
      kLabels,
      {facts_of("train", reviews(2, 2)),
       facts_of("test", reviews(1, 1), row_set(row_hashes(reviews(1, 0))))}};
  EXPECT_EQ(to_json(data_result(identity)),
            Json::parse(R"({"source": "reviews.csv", "hash": "99aa", "rows": 6, "splits": [
              {"split": "train", "rows": 4, "classes": {"bad": 2, "good": 2},
               "majority_share": 0.5, "duplicate_rows": 0, "validation_duplicate_rows": 0,
               "repeated_rows": 0, "effective_rows": 4, "unlabelled_rows": null, "numbers": null,
               "duplicates": {},
               "validation_duplicates": {}},
              {"split": "test", "rows": 2, "classes": {"bad": 1, "good": 1},
               "majority_share": 0.5, "duplicate_rows": 1, "validation_duplicate_rows": 0,
               "repeated_rows": 0, "effective_rows": 2, "unlabelled_rows": null, "numbers": null,
               "duplicates": {},
               "validation_duplicates": {}}]})"));
}

}  // namespace
}  // namespace hone
