#pragma once

#include <map>
#include <string>

#include "hone/jobs/job_output.h"
#include "hone/jobs/job_result.h"
#include "hone/jobs/model_change.h"
#include "hone/runtime/context.h"

namespace hone {

/// Which pass to run over which model, and where to write the result.
struct PassJob {
  std::string model;  ///< as `open_model` takes it
  std::string pass;   ///< as `parse_pass` takes it
  AnswerTexts texts = {};
  JobOutput output;            ///< no folder: for a pass that only inspects the model
  std::uint64_t seed = 42;     ///< of fresh weights
  Invocation invocation = {};  ///< for the report, the card and the record of the job
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

/// Writes a copy of the model with the pass applied to its graph, with a report of the change; of a pass that only inspects the
/// graph, returns its findings. Throws `UserError` as `open_model` and `transform`, where nothing changed, where a folder cannot
/// hold the result, for data given to a pass that only inspects, and for a missing output folder.
JobResult apply_pass(const PassJob& job, Context& context);

}  // namespace hone
