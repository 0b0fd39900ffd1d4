#pragma once

#include "hone/jobs/job_data.h"
#include "hone/jobs/pipeline/pipeline.h"

namespace hone {

/// Returns estimates of the stages of a lab's pipeline on this machine: the texts that they train and evaluate on,
/// counted from their options, times the model's time for one text, measured on a batch. Searches over the same points
/// compute each point only once: the estimate counts the expected number of new points, as trials of the mean shape.
/// `model` as in `LabJob`; `data` without a source are those of the first stage that has data. Null if model or data
/// cannot be read: the stage that reads them reports why.
StageCosts lab_stage_costs(const Pipeline& pipeline, const std::string& model, const JobData& data,
                           std::uint64_t seed, Context& context);

}  // namespace hone
