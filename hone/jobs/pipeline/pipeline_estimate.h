#pragma once

#include <functional>
#include <string>
#include <vector>

#include "hone/jobs/pipeline/pipeline_file.h"

/// Cost estimates for the stages of a pipeline, before they run.
namespace hone {

struct StageOutcome;

/// The estimated cost of a stage.
struct StageCost {
  double seconds = 0;
  double memory_bytes = 0;  ///< peak
  double disk_bytes = 0;    ///< of its results
};
using StageCosts = std::function<StageCost(const PipelineStage&)>;

/// Returns the total cost of the stages that are `left`: "; about 4:30, up to 140 MiB of memory beside the data (6 GiB
/// can be had) and 60 MiB of disk"; empty without `costs`.
std::string pipeline_cost_text(const Pipeline& pipeline, const std::vector<bool>& left,
                               const StageCosts& costs);

/// Returns the time for the stages from `index` on that are `left`: "; about 2:10 left". A stage counts with the mean
/// of its group's `outcomes`, which are those of the stages before `index`. Without one, it counts with its estimate
/// by `costs`, scaled by the ratio of measured to estimated time so far. Without `costs` such a stage counts nothing,
/// and the text is "; more than 2:10 left". Empty if no time is known.
std::string pipeline_time_left_text(const Pipeline& pipeline, std::size_t index,
                                    const std::vector<StageOutcome>& outcomes,
                                    const std::vector<bool>& left, const StageCosts& costs);

}  // namespace hone
