#pragma once

#include <string>
#include <vector>

#include "hone/data/encoded_set.h"
#include "hone/data/splits.h"
#include "hone/models/text_limit.h"

/// The splits of a dataset, encoded for a model.
namespace hone {

/// The encoded examples of a job.
struct EncodedSplits {
  EncodedSet train = {}, validation = {}, test = {};
  ValidationSource validation_source = {};
  Protocol protocol = Protocol::honest;
  DataIdentity identity = {};
  std::vector<std::uint64_t> train_rows = {}, validation_rows = {};  ///< their `row_hash`es
  /// The examples in `test`, which may be from any split, and in `validation`.
  MeasuredSplit measured = {}, measured_validation = {};

  /// Returns the examples that choices are based on: those of `validation`, unless the protocol uses the reported ones.
  const MeasuredSplit& measured_choice() const {
    return protocol == Protocol::original || validation.size() == 0 ? measured
                                                                    : measured_validation;
  }
};

/// Throws `UserError` unless the model supports the token types that `tokenizer` assigns to a pair of texts and the
/// limit leaves room for its special tokens (see check_room).
void check_takes_pairs(const InputLimits& limits, const Tokenizer& tokenizer,
                       const TextLimit& limit);

/// Encodes the examples for the model: images, or texts of at most `limit` tokens. Throws `UserError` like
/// `encode_images`, and for images if the model reads texts.
EncodedSet encode_for(const TextModel& source, const std::vector<Example>& examples,
                      const TextLimit& limit, Context& context);

/// Throws `UserError` if the model reads texts and the limit leaves no room for special tokens (see check_room).
void check_text_room(const TextModel& source, const TextLimit& limit);

/// Tokenizes `examples` for the model, truncated to `text_limit`, or reads its images. Adds warnings, starting with
/// `name`, about truncated or replaced text, and about a `max_seq_length` beyond the model's positions.
EncodedSet encode_split(const TextModel& source, const std::vector<Example>& examples,
                        const std::string& name, const TextCut& cut, Context& context,
                        std::vector<std::string>& warnings);

/// Encodes the splits of a dataset, with `test` as the test split. The measured examples are compared with the model's
/// training `record`; uncertain facts are added to `warnings`.
EncodedSplits encode_splits(const TextModel& source, const Splits& splits,
                            const EvaluationExamples& test, const std::optional<TrainedOn>& record,
                            const TextCut& cut, Context& context,
                            std::vector<std::string>& warnings);

}  // namespace hone
