#include "hone/data/trained_on.h"

#include <gtest/gtest.h>

#include "hone/tensor/safetensors.h"
#include "tests/support/expect.h"

namespace hone {
namespace {

// Above 2^63, where a signed integer would be negative.
constexpr std::uint64_t kLarge = 0xfedcba9876543210u;

TrainedOn record() {
  return after_calibration(after_training(TrainedOn{}, "first", {5, kLarge, 5, 2}, {9, 7}),
                           "second", {2, 3});
}

TEST(TrainedOn, KeepsEachRowOnceAndInOrder) {
  const TrainedOn kept = record();
  EXPECT_EQ(kept.trained, (RowSet{2, 5, kLarge}));
  EXPECT_EQ(kept.chosen, (RowSet{7, 9}));
  EXPECT_EQ(kept.calibrated, (RowSet{2, 3}));
  EXPECT_EQ(kept.data, (std::vector<std::string>{"first", "second"}));
  EXPECT_TRUE(contains(kept.trained, kLarge));
  EXPECT_FALSE(contains(kept.trained, 7));
}

TEST(TrainedOn, GrowsWithEveryTraining) {
  const TrainedOn twice = after_training(record(), "first", {9}, {1});
  EXPECT_EQ(twice.trained, (RowSet{2, 5, 9, kLarge}));
  EXPECT_EQ(twice.chosen, (RowSet{1, 7, 9}));
  EXPECT_EQ(twice.data, (std::vector<std::string>{"first", "second"}));
  EXPECT_TRUE(twice.complete);
}

TEST(TrainedOn, KnowsWhatItDoesNotKnow) {
  EXPECT_TRUE(TrainedOn{}.known());
  EXPECT_TRUE(TrainedOn{}.nothing());
  const TrainedOn stranger = after_calibration(std::nullopt, "data", {1});
  EXPECT_FALSE(stranger.complete);
  EXPECT_FALSE(stranger.known());
  EXPECT_FALSE(stranger.nothing());
  const TrainedOn trained = after_training(std::nullopt, "data", {1}, {});
  EXPECT_FALSE(trained.complete);
  EXPECT_TRUE(trained.known());
}

// A randomly initialized head is untrained until it is trained. Calibration does not change that.
TEST(TrainedOn, RemembersAnUntrainedHead) {
  const TrainedOn drawn{.complete = false, .untrained_head = true};
  EXPECT_TRUE(drawn.untrained());
  EXPECT_FALSE(drawn.known());
  EXPECT_TRUE(after_calibration(drawn, "data", {1}).untrained());
  EXPECT_FALSE(after_training(drawn, "data", {1}, {}).untrained());
  EXPECT_TRUE(united(drawn, record())->untrained_head);
  EXPECT_TRUE(united(record(), TrainedOn{})->untrained_head) << "one of them is as it was drawn";
  EXPECT_FALSE(united(record(), record())->untrained());
}

TEST(TrainedOn, WithoutRowsSaysWhatIsUntrained) {
  EXPECT_EQ(without_rows(record()), std::nullopt);
  EXPECT_EQ(without_rows(std::nullopt), std::nullopt);
  EXPECT_EQ(without_rows(after_calibration(TrainedOn{}, "data", {1})), TrainedOn{});
  const TrainedOn drawn{.complete = false, .untrained_head = true};
  EXPECT_EQ(without_rows(after_calibration(drawn, "data", {1})), drawn);
}

TEST(TrainedOn, RemembersWhatWasReadOfATable) {
  TrainedOn named = record();
  remember_columns(named, {});
  EXPECT_EQ(named, record()) << "data that is no table";
  remember_columns(named, {.text = "text", .label = "label"});
  EXPECT_EQ(without_rows(named), std::nullopt) << "any data has such";
  const NamedColumns columns = {
      .text = "review",
      .label = "stars",
      .form = {.encoding = "latin-1", .quoting = "none", .json_field = "data", .no_header = true}};
  remember_columns(named, columns);
  EXPECT_EQ(named.columns, columns);
  const TemporaryFolder folder;
  write_trained_on(named, folder.path());
  EXPECT_EQ(read_trained_on(folder.path()), named);
  EXPECT_EQ(after_calibration(after_training(named, "more", {8}, {}), "more", {8}).columns,
            named.columns);
  EXPECT_EQ(united(record(), named)->columns, named.columns);
  EXPECT_EQ(without_rows(named), (TrainedOn{.complete = false, .columns = columns}));
}

TEST(TrainedOn, SaysWhatIsUnknown) {
  EXPECT_EQ(unknown_texts("A", record()), "");
  EXPECT_EQ(unknown_texts("A", std::nullopt),
            "there is no record of the training data of A, which may include these examples");
  EXPECT_EQ(unknown_texts("A", after_training(std::nullopt, "data", {1}, {})),
            "the weights from which A was trained have no record of their training data, which "
            "may include these examples");
}

TEST(TrainedOn, OfTwoModelsIsWhatEitherHasSeen) {
  const TrainedOn other = after_training(std::nullopt, "other", {4}, {8});
  const std::optional<TrainedOn> both = united(record(), std::optional(other));
  ASSERT_TRUE(both.has_value());
  EXPECT_EQ(both->trained, (RowSet{2, 4, 5, kLarge}));
  EXPECT_EQ(both->chosen, (RowSet{7, 8, 9}));
  EXPECT_EQ(both->data, (std::vector<std::string>{"first", "second", "other"}));
  EXPECT_FALSE(both->complete);
  EXPECT_EQ(united(std::optional<TrainedOn>(), std::nullopt), std::nullopt);
  EXPECT_FALSE(united(record(), std::optional<TrainedOn>())->complete);
}

TEST(TrainedOn, IsReadAsItWasWritten) {
  const TemporaryFolder folder;
  EXPECT_FALSE(read_trained_on(folder.path()).has_value());
  write_trained_on(std::nullopt, folder.path());
  EXPECT_FALSE(read_trained_on(folder.path()).has_value());
  for (const TrainedOn& written : {record(), TrainedOn{}, after_training(std::nullopt, "", {}, {}),
                                   TrainedOn{.complete = false, .untrained_head = true}}) {
    write_trained_on(written, folder.path());
    EXPECT_EQ(read_trained_on(folder.path()), written);
  }
}

TEST(TrainedOn, TakesEightBytesARow) {
  const TemporaryFolder folder;
  std::vector<std::uint64_t> rows(10000);
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = i;
  write_trained_on(after_training(TrainedOn{}, "data", rows, {}), folder.path());
  EXPECT_LT(fs::file_size(folder.path() / kTrainedOnFile), 8 * rows.size() + 300);
}

TEST(TrainedOn, RefusesWhatItDidNotWrite) {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / kTrainedOnFile;
  const auto expect_refusal = [&](const std::string& reason, const TensorMap& tensors,
                                  const std::string& version) {
    write_safetensors(file, tensors, {{"hone.trained_on", version}, {"complete", "true"}});
    expect_user_error(file.string() + ": " + reason, [&] { read_trained_on(folder.path()); });
  };
  const Tensor falling = Tensor::of<std::int64_t>({2}, {5, 3});
  expect_refusal("tensor 'trained_on': the hashes are not in ascending order",
                 {{"trained_on", falling}}, "2");
  expect_refusal("tensor 'chosen_on': expected a list of i64",
                 {{"chosen_on", Tensor::of<float>({1}, {1})}}, "2");
  expect_refusal("expected version 2 of the record, got '3'", {}, "3");
  fs::resize_file(file, 5);
  expect_user_error(file.string(), [&] { read_trained_on(folder.path()); });
}

// Fingerprints of version 1 are not comparable.
TEST(TrainedOn, OfTheFirstKindIsUnknown) {
  const TemporaryFolder folder;
  write_safetensors(folder.path() / kTrainedOnFile, {},
                    {{"hone.trained_on", "1"}, {"complete", "true"}});
  EXPECT_FALSE(read_trained_on(folder.path()).has_value());
}

TEST(TrainingData, IsKnownAgainThoughRowsCameOrWent) {
  std::vector<std::uint64_t> rows(100);
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = i;
  const TrainedOn trained = after_training(TrainedOn{}, "data", {rows.begin(), rows.begin() + 90},
                                           {rows.begin() + 90, rows.end()});
  EXPECT_TRUE(is_training_data(rows, trained));
  std::vector<std::uint64_t> more = rows;
  for (std::uint64_t i = 0; i < 1000; ++i) more.push_back(1000 + i);
  EXPECT_TRUE(is_training_data(more, trained)) << "all of what was trained on is there";
  EXPECT_TRUE(is_training_data(std::span(rows).first(10), trained)) << "a part of it";
  std::vector<std::uint64_t> other(more.end() - 500, more.end());
  EXPECT_FALSE(is_training_data(other, trained));
  std::copy_n(rows.begin(), 12, other.begin());
  EXPECT_FALSE(is_training_data(other, trained)) << "12 of 500, 12 of 90";
  EXPECT_FALSE(is_training_data({}, trained));
  EXPECT_FALSE(is_training_data(rows, TrainedOn{}));
}

}  // namespace
}  // namespace hone
