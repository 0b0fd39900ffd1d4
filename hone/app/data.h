#pragma once

#include <string>
#include <vector>

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

struct SplitOptions {
  double validation_split = 0.1;  ///< share of the training examples set aside by seed; 0: none
  std::uint64_t seed = 42;
  Protocol protocol = Protocol::honest;
};

/// A data set in three parts. Choices are made on `validation`; `test` is looked at once, at the
/// end.
struct Splits {
  DataSet source;
  /// For people: "2 500 of 25 000 training texts, set aside by seed 42".
  std::string validation_source = "none";
  Protocol protocol = Protocol::honest;
};

/// Sees to the validation part. Honest: the data's own if there is one; else a share of the training
/// examples, a random choice by seed in their old order. Original: the test part once more.
/// Throws `UserError` for a share outside of [0, 1), and for `original` without a test part.
Splits split(DataSet data, const SplitOptions& options);

/// The part called `name` ("train", "validation", "test"); "" is the one to measure on: the first of
/// test, validation and train that has examples.
/// Throws `UserError` for another name and for an empty part.
const std::vector<Example>& part(const Splits& splits, const std::string& name);

/// The encoded examples of a job.
struct EncodedSplits {
  EncodedSet train, validation, test;
  std::string validation_source = "none";  ///< as in `Splits`
  Protocol protocol = Protocol::honest;
};

/// Tokenizes `examples` for the model; says in `warnings`, with `name` in front, what was cut or
/// replaced.
EncodedSet encode_part(const TextModel& source, const std::vector<Example>& examples,
                       const std::string& name, std::int64_t max_seq_length, Context& context,
                       std::vector<std::string>& warnings);

/// Tokenizes the parts of a data set, with `test` (see `part`) as the test part.
EncodedSplits encode_splits(const TextModel& source, const Splits& splits,
                            const std::vector<Example>& test, std::int64_t max_seq_length,
                            Context& context, std::vector<std::string>& warnings);

/// The most tokens a text may have: `max_seq_length` if positive, else 512, but never more than the
/// model's positions.
std::size_t text_limit(std::int64_t max_seq_length, std::int64_t positions);

}  // namespace hone
