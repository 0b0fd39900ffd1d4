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

/// What is to be known of the texts of a job before its figures are believed.
namespace hone {

/// A row whose text stands in another part too, by their places.
struct DuplicateRow {
  std::string row, other_row;
};
inline constexpr std::size_t kNamedDuplicates = 10;

/// What numbers of one kind are.
struct NumberFacts {
  double least = 0, greatest = 0, mean = 0;
};

/// One part as it is used: after texts were set aside, and after `--max_train_samples` and `--max_eval_samples`.
struct PartFacts {
  std::string part;  ///< "train", "validation", "test", or "all" for data that has no parts
  std::int64_t rows = 0;
  Task task = Task::single_label;
  /// (classes), or (labels), of which a text may have several
  std::vector<std::int64_t> class_rows = {};
  std::int64_t unlabelled_rows = 0;       ///< of labels: texts that have none
  std::vector<NumberFacts> numbers = {};  ///< of a regression, one per output; none without rows
  std::int64_t duplicate_rows =
      0;  ///< their text is in the training part too; 0 for that part itself
  std::vector<DuplicateRow> duplicates =
      {};  ///< the first of them, where they were read from files
  std::int64_t validation_duplicate_rows =
      0;  ///< of the test part: their text is in the validation part too, where choices are made
  std::vector<DuplicateRow> validation_duplicates = {};
  std::int64_t repeated_rows = 0;  ///< their text stands in a row before them in this part
  double evidence = 1;             ///< of each row, as some repeat others: hone/metrics/evidence.h
  std::string sample = {};         ///< "10 of 50 of them, drawn by seed 3"; empty: all of the part

  /// The number of different texts that would say as much as these rows.
  std::int64_t effective_rows() const;
  /// The share of the most frequent class: the accuracy of always giving it. NaN without rows, and of other tasks.
  double majority_share() const;
  std::size_t majority_class() const;
  /// Of classes or labels, those that texts have.
  std::size_t classes_present() const;
};

/// `hashes` are the examples' (hone/data/row_hash.h).
PartFacts part_facts(const std::string& part, const std::vector<Example>& examples,
                     std::span<const std::uint64_t> hashes, const LabelScheme& scheme,
                     const RowSet& training_rows);

/// The first `kNamedDuplicates` of the examples whose text stands among the `others` too; both were read from `files`.
std::vector<DuplicateRow> duplicate_rows(const std::vector<Example>& examples,
                                         const std::vector<Example>& others,
                                         const std::vector<ReadFile>& files);

/// Which data a result stands on.
struct DataIdentity {
  std::string source;               ///< as it was asked for
  std::string hash;                 ///< `DataSet::hash`
  std::int64_t rows = 0;            ///< of the whole, before anything was left out
  std::vector<std::string> labels;  ///< names of the classes, numbers or labels
  std::vector<PartFacts> parts;     ///< those that have rows
  NamedColumns columns = {};        ///< `DataSet::columns`
};

/// A split in results. What the task does not have is null.
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
/// Data in results.
struct DataResult {
  std::string source, hash;
  std::int64_t rows = 0;
  std::vector<SplitResult> splits = {};
};
const Fields& fields_of(const NumberFacts*);
const Fields& fields_of(const SplitResult*);
const Fields& fields_of(const DataResult*);
DataResult data_result(const DataIdentity& identity);

/// "bad 900, good 1,100"; of many classes how many there are, and the rarest and the most frequent. Of labels how many
/// texts have none, too: "rude 20, threat 5, none 175". Of numbers their range: "numbers from 0.00 to 5.00, mean 2.60".
std::string class_counts_text(const PartFacts& facts, const std::vector<std::string>& labels);

/// What a figure was measured on.
struct MeasuredPart {
  PartFacts facts;
  std::string
      origin;  ///< where the part comes from: "200 of 2,000 training examples, set aside by seed 42"
  /// Rows whose text the model was trained on, that trainings set aside to choose on, and that ranges of quantizers were
  /// taken from. None: that is not known of this model.
  std::optional<std::int64_t> trained_on_rows = {}, chosen_on_rows = {}, calibrated_on_rows = {};
  /// The weights come from some that kept no record: rows may be among what those had learned from.
  bool trained_on_more = false;
  /// What of the model that is measured is as it was drawn: "untrained weights", "untrained head", or nothing.
  std::string untrained = {};
  /// Choices are made on it and another part is reported: that choices were made on it before flatters nothing.
  bool is_for_choices = false;
  std::string majority_label = {};  ///< of classes; empty: there is none
  /// Of another task, what its texts are answered by: `class_counts_text`.
  std::string answers = {};
  /// Fingerprint of the texts with their answers, whatever their order: only what stands on equal ones may be ranked.
  std::string texts_hash = {};
};

/// `hashes` are the examples' (hone/data/row_hash.h), `record` is what the model that is measured has learned from.
MeasuredPart measured_part(PartFacts facts, std::string origin,
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
MeasuredSplitResult measured_split_result(const MeasuredPart& part);

/// So few examples change a metric by less than a point.
bool is_negligible(std::int64_t count, const PartFacts& facts);

/// What flatters the figures of the part or makes them worthless, a few words each, the worst first: "80 of them trained on", "may be
/// trained on", "all of them used for choices", "untrained head". `warnings_of` has sentences.
std::vector<std::string> cautions(const MeasuredPart& part);
/// Those that concern at least 1% of the examples.
std::vector<std::string> notable_cautions(const MeasuredPart& part);
/// The first of some, if there is one: for texts and tables, as `warnings_of` has all.
std::vector<std::string> first_of(std::vector<std::string> cautions);
/// That of the notable ones.
std::vector<std::string> first_caution(const MeasuredPart& part);

/// "validation, n = 200"; with its first notable caution: "test, n = 200, 80 of them trained on". That the validation split is used
/// for choices goes without saying.
std::string name_and_size(const MeasuredPart& part);
/// The same without a caution, for a page that has it elsewhere: "test, n = 200".
std::string short_name_and_size(const MeasuredPart& part);

/// "validation, n = 200: 200 of 2,000 training examples, set aside by seed 42; always predicting 'good' scores 50.5%", with its first
/// caution;
/// of numbers "…; numbers from 0.00 to 5.00, mean 2.60"
std::string describe(const MeasuredPart& part);

/// What flatters the figures of the part or makes them unsure, a sentence each: texts that were trained on or stand in
/// the training part, one class or one number only, classes or labels with next to no texts.
std::vector<std::string> warnings_of(const MeasuredPart& part,
                                     const std::vector<std::string>& labels);

/// What is wrong with the texts to learn from: one text with different answers, a class or label of next to no texts (with
/// the place where it stands).
std::vector<std::string> training_warnings(const DataSet& data);

}  // namespace hone
