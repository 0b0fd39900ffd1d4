#pragma once

#include <string>

#include "hone/jobs/job_output.h"
#include "hone/jobs/job_result.h"
#include "hone/jobs/model_change.h"
#include "hone/models/adapter.h"
#include "hone/runtime/context.h"

namespace hone {

/// Which adapter to merge into which model, and where to write the result.
struct MergeJob {
  std::string model;    ///< as `open_model` takes it
  std::string adapter;  ///< folder, see models/adapter.h
  AnswerTexts texts = {};
  JobOutput output;
  std::uint64_t seed = 42;     ///< of fresh weights
  Invocation invocation = {};  ///< for the report and the record of the job
};

/// The result for programs.
struct MergeFields {
  ModelChangeResult change;
  std::string adapter;
  AdapterSize lora = {};
  bool rounded_again = false;
  std::string output;
};
const Fields& fields_of(const MergeFields*);

/// Writes a copy of the model with the adapter in its weights: W + s B A, computed in double and rounded once, with a report of
/// the change. The products of the adapter are removed with their cost. Where weights are quantized, the sums are rounded to
/// their format again, so the result differs from the adapter beside the model; the report notes it. Throws `UserError` as
/// `open_with_adapter`, and for packed weights.
JobResult merge_adapter(const MergeJob& job, Context& context);

}  // namespace hone
