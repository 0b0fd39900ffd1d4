#pragma once

#include <string>
#include <vector>

#include "hone/data/data_facts.h"
#include "hone/data/data_set.h"

/// Data in three parts: what is learned from, what choices are made on, and what is measured once.
namespace hone {

/// Where choices (the best epoch, a format) are made.
enum class Protocol {
  honest,   ///< on a validation part that is neither trained on nor reported
  original  ///< on the test part, after training on everything else, as many scripts do
};

/// "honest" or "original"; throws `UserError` for anything else.
Protocol parse_protocol(const std::string& text);
std::string to_string(Protocol protocol);

/// What a job does with the data that a model was trained on before, when it holds texts that are new to the model.
enum class DataUse {
  training,  ///< learns from them
  compression,  ///< looks at the old training texts, and measures on the new ones where there is no test part
  measurement  ///< measures on them
};

struct SplitOptions {
  double validation_split = 0.1;  ///< share of the training examples set aside by seed; 0: none
  std::uint64_t seed = 42;
  Protocol protocol = Protocol::honest;
  DataUse use = DataUse::training;
  std::int64_t max_train_samples = 0;  ///< of the training part, drawn by seed; 0: all
  std::int64_t max_eval_samples = 0;   ///< of each part that is measured
  /// What the model at hand has learned from, if that is known. Data that it was trained on falls into the same parts
  /// again, whatever its order, `seed` and `validation_split`.
  std::optional<TrainedOn> record = {};
};

/// Which examples a validation split consists of.
enum class ValidationOrigin {
  none,       ///< there is no validation split
  data,       ///< the data's own validation split
  set_aside,  ///< examples of the data's training split
  test        ///< the test split once more
};

/// Where a validation split comes from.
struct ValidationSource {
  ValidationOrigin origin = ValidationOrigin::none;
  std::string text = {};  ///< for people: "2,500 of 25,000 training examples, set aside by seed 42"
};

/// A data set in three parts. Choices are made on `validation`; `test` is looked at once, at the
/// end.
struct Splits {
  DataSet source;
  ValidationSource validation_source = {};
  Protocol protocol = Protocol::honest;
  SplitOptions options = {};
  DataIdentity identity = {};
};

/// Rows of a training part that are none for a model.
struct SetAside {
  std::vector<char> rows = {};  ///< nonzero: set aside
  std::string source = {};      ///< as `ValidationSource::text`
};

/// The rows, by their `row_hash`es, of data that a model was trained on that its training set aside, and, with
/// `takes_new`, those that are new to it. None for other data, and where there are no such rows.
std::optional<SetAside> rows_set_aside_before(std::span<const std::uint64_t> hashes,
                                              const std::optional<TrainedOn>& record,
                                              bool takes_new);

/// Sees to the validation part. Honest: the data's own if there is one; else what an earlier training of the model set
/// aside; else a share of the examples of each class, drawn by seed so that equal texts stay on one side
/// (hone/data/stratified_draw.h). Original: the test part once more. Adds warnings to the data's: texts that stand in two parts
/// or under two labels, labels that may be slips.
/// Throws `UserError` for a share outside of [0, 1), and for `original` without a test part.
Splits split(DataSet data, const SplitOptions& options);

/// The part called `asked` ("train", "validation", "test", or `DataOptions::split`); "" is the one to measure on: the first of
/// test, validation and train that has examples.
/// Throws `UserError` for another name and for an empty part.
const std::vector<Example>& part(const Splits& splits, const std::string& asked);

/// Texts to measure on.
struct MeasuredTexts {
  std::vector<Example> examples;
  MeasuredPart part;
};

/// The part called `name` (as in `part`, or "all" for all parts together), at most `max_eval_samples` of it, and what a
/// model with this record knows of it.
MeasuredTexts measured_texts(const Splits& splits, const std::string& name,
                             const std::optional<TrainedOn>& record);

/// Throws `UserError` when the training part answers all texts alike, and there is nothing to learn: there are not two
/// classes, all numbers are the same, or no label that some texts have and others have not.
void check_trainable(const Splits& splits);

}  // namespace hone
