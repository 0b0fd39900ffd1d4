#pragma once

#include <map>
#include <string>

#include "hone/jobs/job_output.h"
#include "hone/jobs/job_result.h"
#include "hone/jobs/model_change.h"
#include "hone/runtime/context.h"

namespace hone {

/// A pass to apply to a model.
struct PassJob {
  std::string model;  ///< see `open_model`
  std::string pass;   ///< see `parse_pass`
  EvaluationData texts = {};
  JobOutput output;            ///< no folder: only for a pass that inspects the model
  std::uint64_t seed = 42;     ///< seed of fresh weights
  Invocation invocation = {};  ///< for the report, the model card and the job record
};

/// The result of a pass that changes a model.
struct PassFields {
  ModelChangeResult change;
  std::string pass, output;
};
/// The result of a pass that only inspects a model.
struct PassFindings {
  std::string model, pass;
  std::map<std::string, Json> found = {};
};
const Fields& fields_of(const PassFields*);
const Fields& fields_of(const PassFindings*);

/// Applies the pass to the model's graph, writes the changed copy and reports the change. A pass that only inspects the
/// graph changes nothing, and its findings are returned. Throws `UserError` like `open_model` and `transform`, if the
/// pass changes nothing, if a folder cannot hold the result, if data is given to a pass that only inspects, and if the
/// output folder is missing.
JobResult apply_pass(const PassJob& job, Context& context);

}  // namespace hone
