#pragma once

#include <string>
#include <vector>

#include "hone/data/encoded_set.h"
#include "hone/data/splits.h"
#include "hone/models/model_source.h"

/// The parts of a data set as a model reads them.
namespace hone {

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
