#pragma once

#include "hone/app/context.h"
#include "hone/text/batching.h"
#include "hone/text/data_set.h"

namespace hone {

struct SplitOptions {
  double validation_split = 0.1;  ///< share of the training examples set aside by seed; 0: none
  std::uint64_t seed = 42;
};

/// A data set in three parts. Choices are made on `validation`; `test` is looked at once, at the end.
struct Splits {
  DataSet source;  ///< `train` without what went to `validation`
  std::vector<Example> validation;
};

/// Sets the validation examples aside: a random choice by seed, in their old order.
Splits split(DataSet data, const SplitOptions& options);

/// The part called `name` ("train", "validation", "test"); "" is the one to measure on: the first of test, validation
/// and train that has examples.
/// Throws `UserError` for another name and for an empty part.
const std::vector<Example>& part(const Splits& splits, const std::string& name);

/// The most tokens a text may have: `max_seq_length` if positive, else 512, but never more than the model's positions.
std::size_t text_limit(std::int64_t max_seq_length, std::int64_t positions);

}  // namespace hone
