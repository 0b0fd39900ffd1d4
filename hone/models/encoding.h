#pragma once

#include <string>
#include <vector>

#include "hone/data/encoded_set.h"
#include "hone/data/splits.h"
#include "hone/models/text_limit.h"

/// The parts of a data set as a model reads them.
namespace hone {

/// The encoded examples of a job.
struct EncodedSplits {
  EncodedSet train = {}, validation = {}, test = {};
  ValidationSource validation_source = {};
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
/// special tokens have room (see check_room).
void check_takes_pairs(const InputLimits& limits, const Tokenizer& tokenizer,
                       const TextLimit& limit);

/// The examples as the model reads them: images, or texts of at most `limit` tokens. Throws `UserError` as `encode_images`, and
/// for images where the model reads texts.
EncodedSet encode_for(const TextModel& source, const std::vector<Example>& examples,
                      const TextLimit& limit, Context& context);

/// Throws `UserError` unless special tokens have room (see check_room), where the model reads texts.
void check_text_room(const TextModel& source, const TextLimit& limit);

/// Tokenizes `examples` for the model, or reads its images, cut where `text_limit` says; says in `warnings`, with `name` in
/// front, what was cut or replaced, and that the model has fewer positions than `max_seq_length`.
EncodedSet encode_part(const TextModel& source, const std::vector<Example>& examples,
                       const std::string& name, const TextCut& cut, Context& context,
                       std::vector<std::string>& warnings);

/// Tokenizes the parts of a data set, with `test` as the test part. What was measured has facts of a model with the
/// `record`; what is unsure about them goes to `warnings`.
EncodedSplits encode_splits(const TextModel& source, const Splits& splits,
                            const MeasuredTexts& test, const std::optional<TrainedOn>& record,
                            const TextCut& cut, Context& context,
                            std::vector<std::string>& warnings);

}  // namespace hone
