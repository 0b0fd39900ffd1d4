#pragma once

#include <string>

#include "hone/jobs/job_output.h"
#include "hone/jobs/job_result.h"
#include "hone/jobs/model_change.h"
#include "hone/models/adapter.h"
#include "hone/runtime/context.h"

namespace hone {

/// An adapter to merge into a model.
struct MergeJob {
  std::string model;    ///< see `open_model`
  std::string adapter;  ///< folder, see models/adapter.h
  EvaluationData texts = {};
  JobOutput output;
  std::uint64_t seed = 42;     ///< seed of fresh weights
  Invocation invocation = {};  ///< for the report and the job record
};

/// The JSON result.
struct MergeFields {
  ModelChangeResult change;
  std::string adapter;
  AdapterSize lora = {};
  bool rounded_again = false;
  std::string output;
};
const Fields& fields_of(const MergeFields*);

/// Writes a copy of the model with the adapter merged into its weights: W + s B A, computed in double and rounded once.
/// Reports the change. The adapter's own products are removed with their cost. The sums of quantized weights are
/// rounded to their format again, so the result differs from the unmerged adapter; the report notes it. Throws
/// `UserError` like `open_with_adapter`, and for packed weights.
JobResult merge_adapter(const MergeJob& job, Context& context);

}  // namespace hone
