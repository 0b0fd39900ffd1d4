#pragma once

#include "hone/jobs/job_data.h"
#include "hone/jobs/pipeline/pipeline.h"

namespace hone {

/// What the stages of a lab's pipeline will take on this machine: texts that are trained on and measured, counted from
/// their options, times the operations of the model for a text of the usual length of these data. Searches for the same over the same
/// points compute each once: the expected number of those that are new counts. `model` as `LabJob` has it,
/// and `data` with the source of the pipeline. Null where model or data cannot be read: the stage that reads them says why.
StageCosts lab_stage_costs(const Pipeline& pipeline, const std::string& model, const JobData& data,
                           std::uint64_t seed, Context& context);

}  // namespace hone
