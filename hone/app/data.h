#pragma once

#include <string>
#include <vector>

#include "hone/app/data_facts.h"
#include "hone/app/model_source.h"
#include "hone/text/batching.h"
#include "hone/text/data_set.h"

/// Data in three parts: what is learnt from, what choices are made on, and what is measured once.
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
  /// What the model at hand has learnt from, if that is known. Data that it was trained on falls into the same parts
  /// again, whatever its order, `seed` and `validation_split`.
  std::optional<TrainedOn> record = {};
};

/// A data set in three parts. Choices are made on `validation`; `test` is looked at once, at the
/// end.
struct Splits {
  DataSet source;
  /// For people: "2 500 of 25 000 training texts, set aside by seed 42".
  std::string validation_source = "none";
  Protocol protocol = Protocol::honest;
  SplitOptions options = {};
  DataIdentity identity = {};
};

/// Rows of a training part that are none for a model.
struct SetAside {
  std::vector<char> rows = {};  ///< nonzero: set aside
  std::string source = {};      ///< as `Splits::validation_source`
};

/// The rows, by their `row_hash`es, of data that a model was trained on that its training set aside, and, with
/// `takes_new`, those that are new to it. None for other data, and where there are no such rows.
std::optional<SetAside> rows_set_aside_before(std::span<const std::uint64_t> hashes,
                                              const std::optional<TrainedOn>& record,
                                              bool takes_new);

/// Sees to the validation part. Honest: the data's own if there is one; else what an earlier training of the model set
/// aside; else a share of the training examples, a random choice by seed in their old order, of which all rows with one
/// text stay on one side. Original: the test part once more. Adds warnings to the data's: texts that stand in two parts
/// or under two labels, labels that may be slips.
/// Throws `UserError` for a share outside of [0, 1), and for `original` without a test part.
Splits split(DataSet data, const SplitOptions& options);

/// The part called `name` ("train", "validation", "test"); "" is the one to measure on: the first of
/// test, validation and train that has examples.
/// Throws `UserError` for another name and for an empty part.
const std::vector<Example>& part(const Splits& splits, const std::string& name);

/// Texts to measure on.
struct MeasuredTexts {
  std::vector<Example> examples;
  MeasuredPart part;
};

/// The part called `name` (as in `part`, or "all" for all parts together), at most `max_eval_samples` of it, and what a
/// model with this record knows of it.
MeasuredTexts measured_texts(const Splits& splits, const std::string& name,
                             const std::optional<TrainedOn>& record);

/// Throws `UserError` when there are not two classes in the training part: there would be nothing to learn.
void check_trainable(const Splits& splits);

/// The encoded examples of a job.
struct EncodedSplits {
  EncodedSet train = {}, validation = {}, test = {};
  std::string validation_source = "none";  ///< as in `Splits`
  Protocol protocol = Protocol::honest;
  DataIdentity identity = {};
  std::vector<std::uint64_t> train_rows = {}, validation_rows = {};  ///< their `row_hash`es
  /// What `test` is, which may be any part that was asked for, and `validation`.
  MeasuredPart measured = {}, measured_validation = {};

  /// Where choices are made: what stands as `validation`, unless the protocol chooses on what is reported.
  const MeasuredPart& measured_choice() const {
    return protocol == Protocol::original || validation.size() == 0 ? measured
                                                                    : measured_validation;
  }
};

/// Throws `UserError` unless the model takes the types of tokens that `tokenizer` gives to a pair of texts, and its
/// positions are enough for both (see text_limit).
void check_takes_pairs(const InputLimits& limits, const Tokenizer& tokenizer,
                       std::int64_t max_seq_length);
/// The latter alone: the special tokens of a pair have room among `limit` tokens.
void check_room_for_pairs(const Tokenizer& tokenizer, std::size_t limit);

/// Tokenizes `examples` for the model; says in `warnings`, with `name` in front, what was cut or
/// replaced, and that the model has fewer positions than `max_seq_length`.
EncodedSet encode_part(const TextModel& source, const std::vector<Example>& examples,
                       const std::string& name, std::int64_t max_seq_length, Context& context,
                       std::vector<std::string>& warnings);

/// Tokenizes the parts of a data set, with `test` as the test part. What was measured has facts of a model with the
/// `record`; what is unsure about them goes to `warnings`.
EncodedSplits encode_splits(const TextModel& source, const Splits& splits,
                            const MeasuredTexts& test, const std::optional<TrainedOn>& record,
                            std::int64_t max_seq_length, Context& context,
                            std::vector<std::string>& warnings);

/// The most tokens a text may have: `max_seq_length` if positive, else 512, but never more than the
/// model's positions.
std::size_t text_limit(std::int64_t max_seq_length, std::int64_t positions);

/// That the model has fewer positions than `max_seq_length`; empty where it does not.
std::string length_warning(std::int64_t max_seq_length, std::int64_t positions);

}  // namespace hone
