#pragma once

#include <string>
#include <vector>

#include "hone/data/data_facts.h"
#include "hone/data/data_set.h"

/// Training, validation and test splits.
namespace hone {

/// The split on which choices (the best epoch, a format) are made.
enum class Protocol {
  honest,   ///< a validation split that is neither trained on nor reported
  original  ///< the test split, after training on all other data, as many scripts do
};

/// Parses "honest" or "original"; throws `UserError` for anything else.
Protocol parse_protocol(const std::string& text);
std::string to_string(Protocol protocol);

/// The use of data that a model was trained on, if it also contains examples that are new to the model.
enum class DataUse {
  training,  ///< trains on the new examples
  compression,  ///< uses the old training examples, and measures on the new ones if there is no test split
  measurement  ///< measures on the new examples
};

struct SplitOptions {
  double validation_split = 0.1;  ///< share of the training examples set aside by seed; 0: none
  std::uint64_t seed = 42;
  Protocol protocol = Protocol::honest;
  DataUse use = DataUse::training;
  std::int64_t max_train_samples = 0;  ///< of the training split, drawn by seed; 0: all
  std::int64_t max_eval_samples = 0;   ///< of each measured split; 0: all
  /// The training record of the model, if known. Data that it was trained on is split as before, regardless of order,
  /// `seed` and `validation_split`.
  std::optional<TrainedOn> record = {};
};

/// Origins of a validation split.
enum class ValidationOrigin {
  none,       ///< no validation split
  data,       ///< the data's own validation split
  set_aside,  ///< examples of the data's training split
  test        ///< the test split itself
};

/// The origin of a validation split.
struct ValidationSource {
  ValidationOrigin origin = ValidationOrigin::none;
  std::string text = {};  ///< "2,500 of 25,000 training examples, set aside by seed 42"
};

/// A dataset with three splits. Choices are made on `validation`; `test` is evaluated once, at the end.
struct Splits {
  DataSet source;
  ValidationSource validation_source = {};
  Protocol protocol = Protocol::honest;
  SplitOptions options = {};
  DataIdentity identity = {};
};

/// Rows of a training split that the model must not train on.
struct SetAside {
  std::vector<char> rows = {};  ///< nonzero: set aside
  std::string source = {};      ///< as `ValidationSource::text`
};

/// Returns the rows that training set aside and, with `includes_new`, those new to the model. `hashes` are the rows'
/// `row_hash`es. Returns nothing if the model was not trained on this data, or there are no such rows.
std::optional<SetAside> rows_set_aside_before(std::span<const std::uint64_t> hashes,
                                              const std::optional<TrainedOn>& record,
                                              bool includes_new);

/// Provides the validation split. Honest: the data's own if it has one; else the rows that an earlier training of the
/// model set aside; else a share of the examples of each class, drawn by seed, with equal texts on the same side
/// (hone/data/stratified_draw.h). Original: the test split itself. Applies the sample limits and adds warnings to the
/// data: texts with several labels, labels that may be mistakes. Throws `UserError` for a share outside of [0, 1), and
/// for `original` without a test split.
Splits split(DataSet data, const SplitOptions& options);

/// Returns the split called `requested` ("train", "validation", "test", or `DataOptions::split`); "" is the first of test,
/// validation and train that has examples. Throws `UserError` for other names and for an empty split.
const std::vector<Example>& split_named(const Splits& splits, const std::string& requested);

/// Examples to measure on.
struct EvaluationExamples {
  std::vector<Example> examples;
  MeasuredSplit split;
};

/// Returns at most `max_eval_samples` examples of the split called `name` (as in `split_named`, or "all" for all splits
/// together), with facts about them for a model with this training record.
EvaluationExamples evaluation_examples(const Splits& splits, const std::string& name,
                                       const std::optional<TrainedOn>& record);

/// Throws `UserError` if the training split has nothing to learn from: fewer than two classes, all numbers equal, or no
/// label that only some examples have.
void check_trainable(const Splits& splits);

}  // namespace hone
