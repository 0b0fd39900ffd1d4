#pragma once

#include "hone/jobs/job_data.h"
#include "hone/jobs/pipeline/pipeline.h"

namespace hone {

/// What the stages of a lab's pipeline will take on this machine: texts that are trained on and measured, counted from
/// their options, times what the model takes for one of them, which is measured on a batch. Searches for the same over the same
/// points compute each once: the expected number of those that are new counts, in trials of the mean shape. `model` as `LabJob` has it;
/// `data` without a source are those of the first stage that has some. Null where model or data cannot be read: the stage that reads them says why.
StageCosts lab_stage_costs(const Pipeline& pipeline, const std::string& model, const JobData& data,
                           std::uint64_t seed, Context& context);

}  // namespace hone
