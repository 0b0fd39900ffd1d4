#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hone/base/fields.h"
#include "hone/base/json.h"
#include "hone/data/data_set.h"
#include "hone/data/trained_on.h"

/// Facts about the data of a job that qualify its metrics: class counts, duplicates, and overlap between splits.
namespace hone {

/// Places of a row and of a row of another split with the same text.
struct DuplicateRow {
  std::string row, other_row;
};
inline constexpr std::size_t kNamedDuplicates = 10;

/// Range and mean of one regression target.
struct NumberFacts {
  double least = 0, greatest = 0, mean = 0;
};

/// One split as it is used: after rows were set aside, and after `--max_train_samples` and `--max_eval_samples`.
struct SplitFacts {
  std::string split;  ///< "train", "validation", "test", or "all" for data without splits
  std::int64_t rows = 0;
  Task task = Task::single_label;
  /// Row counts, shape (classes) or (labels); an example may have several labels.
  std::vector<std::int64_t> class_rows = {};
  std::int64_t unlabelled_rows = 0;       ///< multi-label: examples without labels
  std::vector<NumberFacts> numbers = {};  ///< regression: one per output; empty without rows
  std::int64_t duplicate_rows = 0;  ///< text also in the training split; 0 for that split itself
  std::vector<DuplicateRow> duplicates = {};  ///< the first of them, if they were read from files
  std::int64_t validation_duplicate_rows =
      0;  ///< test split: text also in the validation split, on which choices are made
  std::vector<DuplicateRow> validation_duplicates = {};
  std::int64_t repeated_rows = 0;  ///< text also in an earlier row of this split
  double evidence = 1;             ///< per row, below 1 if rows repeat: hone/metrics/evidence.h
  std::string sample = {};         ///< "10 of 50 of them, drawn by seed 3"; empty: the whole split

  /// Returns the effective sample size: the number of distinct texts with the same evidence.
  std::int64_t effective_rows() const;
  /// Returns the share of the most frequent class, which is the accuracy of always predicting it. NaN without rows, and
  /// for other tasks.
  double majority_share() const;
  std::size_t majority_class() const;
  /// Returns the number of classes or labels that occur.
  std::size_t classes_present() const;
};

/// `hashes` are those of the examples (hone/data/row_hash.h).
SplitFacts split_facts(const std::string& split, const std::vector<Example>& examples,
                       std::span<const std::uint64_t> hashes, const LabelScheme& scheme,
                       const RowSet& training_rows);

/// Returns the first `kNamedDuplicates` examples whose text also occurs in `others`. Both were read from `files`.
std::vector<DuplicateRow> duplicate_rows(const std::vector<Example>& examples,
                                         const std::vector<Example>& others,
                                         const std::vector<ReadFile>& files);

/// The data of a result.
struct DataIdentity {
  std::string source;               ///< as it was given
  std::string hash;                 ///< `DataSet::hash`
  std::int64_t rows = 0;            ///< all rows, before any were left out
  std::vector<std::string> labels;  ///< names of classes, numbers or labels
  std::vector<SplitFacts> splits;   ///< those that have rows
  NamedColumns columns = {};        ///< `DataSet::columns`
};

/// A split in results. Fields that do not apply to the task are null.
struct SplitResult {
  template <typename T>
  using ByName = std::vector<std::pair<std::string, T>>;

  std::string split;
  std::int64_t rows = 0;
  std::optional<ByName<std::int64_t>> classes = {};  ///< or labels
  double majority_share = 0;
  std::int64_t duplicate_rows = 0, validation_duplicate_rows = 0;
  std::int64_t repeated_rows = 0, effective_rows = 0;
  std::optional<std::int64_t> unlabelled_rows = {};
  std::optional<ByName<NumberFacts>> numbers = {};
  ByName<std::string> duplicates = {}, validation_duplicates = {};
};
/// The data in results.
struct DataResult {
  std::string source, hash;
  std::int64_t rows = 0;
  std::vector<SplitResult> splits = {};
};
const Fields& fields_of(const NumberFacts*);
const Fields& fields_of(const SplitResult*);
const Fields& fields_of(const DataResult*);
DataResult data_result(const DataIdentity& identity);

/// Returns "bad 900, good 1,100"; for many classes, their number and the rarest and most frequent. For labels, also the
/// number of examples without any: "rude 20, threat 5, none 175". For numbers, their range: "numbers from 0.00 to 5.00,
/// mean 2.60".
std::string class_counts_text(const SplitFacts& facts, const std::vector<std::string>& labels);

/// The split that a metric was measured on.
struct MeasuredSplit {
  SplitFacts facts;
  std::string origin;  ///< "200 of 2,000 training examples, set aside by seed 42"
  /// Rows whose text the model was trained on, that training set aside for choices, and that quantizers were calibrated
  /// on. Nothing: not known for this model.
  std::optional<std::int64_t> trained_on_rows = {}, chosen_on_rows = {}, calibrated_on_rows = {};
  /// The weights started from others without a record, which may have learned from these rows.
  bool trained_on_more = false;
  /// Randomly initialized parts of the measured model: "untrained weights", "untrained head", or empty.
  std::string untrained = {};
  /// This split serves for choices and another one is reported, so earlier choices on it do no harm.
  bool is_for_choices = false;
  std::string majority_label = {};  ///< classification; else empty
  /// Other tasks: `class_counts_text`.
  std::string label_summary = {};
  /// Fingerprint of the texts and labels in any order. Only results with equal fingerprints may be ranked.
  std::string texts_hash = {};
};

/// `hashes` are those of the examples (hone/data/row_hash.h); `record` is the training record of the measured model.
MeasuredSplit measured_split(SplitFacts facts, std::string origin,
                             const std::vector<Example>& examples,
                             std::span<const std::uint64_t> hashes,
                             const std::vector<std::string>& labels,
                             const std::optional<TrainedOn>& record);

/// A measured split in results.
struct MeasuredSplitResult {
  std::string split;
  std::int64_t n = 0, effective_n = 0;
  std::string examples_hash = {};
  std::optional<std::int64_t> trained_on_rows = {}, chosen_on_rows = {}, calibrated_on_rows = {};
  std::int64_t duplicate_rows = 0, validation_duplicate_rows = 0, repeated_rows = 0;
  double majority_share = 0;
  std::vector<std::string> cautions = {};
  std::string measured_on = {};
};
const Fields& fields_of(const MeasuredSplitResult*);
MeasuredSplitResult measured_split_result(const MeasuredSplit& measured);

/// Returns whether `count` examples are below 1% and so change a metric by less than a point.
bool is_negligible(std::int64_t count, const SplitFacts& facts);

/// Returns short cautions about metrics that are too optimistic or meaningless, the worst first: "80 of them trained
/// on", "may be trained on", "all of them used for choices", "untrained head". `warnings_of` returns sentences.
std::vector<std::string> cautions(const MeasuredSplit& measured);
/// Returns the cautions that concern at least 1% of the examples.
std::vector<std::string> notable_cautions(const MeasuredSplit& measured);
/// Returns at most the first caution, for running text and tables; `warnings_of` has all.
std::vector<std::string> first_if_any(std::vector<std::string> cautions);
/// Returns the first notable caution, if any.
std::vector<std::string> first_caution(const MeasuredSplit& measured);

/// Returns "validation, n = 200", or with the first notable caution: "test, n = 200, 80 of them trained on". Omits that
/// the validation split is used for choices.
std::string name_and_size(const MeasuredSplit& measured);
/// Returns the same without a caution: "test, n = 200".
std::string short_name_and_size(const MeasuredSplit& measured);

/// Returns "validation, n = 200: 200 of 2,000 training examples, set aside by seed 42; always predicting 'good' scores
/// 50.5%", with the first caution; for numbers "…; numbers from 0.00 to 5.00, mean 2.60".
std::string describe(const MeasuredSplit& measured);

/// Returns a sentence for each reason why metrics are too optimistic or uncertain: examples that were trained on or
/// occur in the training split, a single class or value, classes or labels with very few examples.
std::vector<std::string> warnings_of(const MeasuredSplit& measured,
                                     const std::vector<std::string>& labels);

/// Returns a sentence for each problem of the training data: a text with different labels, a class or label with very
/// few examples (with its place), regression targets of unsuitable scale.
std::vector<std::string> training_warnings(const DataSet& data);

}  // namespace hone
