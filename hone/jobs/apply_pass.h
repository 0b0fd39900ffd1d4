#pragma once

#include <functional>
#include <string>

#include "hone/base/json.h"
#include "hone/jobs/job_output.h"
#include "hone/jobs/job_result.h"
#include "hone/jobs/model_change.h"
#include "hone/report/text_layout.h"
#include "hone/runtime/context.h"

namespace hone {

/// Which pass is to be run over which model, and where to.
struct PassJob {
  std::string model;  ///< as `open_model` takes it
  std::string pass;   ///< as `parse_pass` takes it
  AnswerTexts texts = {};
  JobOutput output;            ///< without a folder: of a pass that looks and changes nothing
  std::uint64_t seed = 42;     ///< of fresh weights
  Invocation invocation = {};  ///< for the report, the card and the record of the job
};

struct PassJobResult {
  Json fields;                                        ///< what programs read, see `result_of`
  std::function<std::string(const TextStyle&)> text;  ///< the same for people
};

/// Writes a copy of the model over whose graph the pass was run for good, with a report of what that changed; of a pass that
/// looks, tells what it finds. Throws `UserError` as `open_model` and `transform`, where nothing changed, where what is left is
/// no model that a folder can hold, and for an output that a pass that looks has no use for, or that another lacks.
PassJobResult apply_pass(const PassJob& job, Context& context);

}  // namespace hone
