#pragma once

#include <functional>
#include <string>
#include <vector>

#include "hone/jobs/pipeline/pipeline_file.h"

/// What the stages of a pipeline will take, as far as that is known before they run.
namespace hone {

struct StageOutcome;

/// What a stage will take, estimated.
struct StageCost {
  double seconds = 0;
  double memory_bytes = 0;  ///< at most, at a time
  double disk_bytes = 0;    ///< that stay
};
using StageCosts = std::function<StageCost(const PipelineStage&)>;

/// Returns what the stages that are `left` will take together: "; about 4:30, up to 140 MiB of memory beside the data (6 GiB can be had)
/// and 60 MiB of disk"; empty without `costs`.
std::string pipeline_cost_text(const Pipeline& pipeline, const std::vector<bool>& left,
                               const StageCosts& costs);

/// Returns how long the stages from `index` on that are `left` will take: "; about 2:10 left". A stage takes as long as the mean of
/// its group's `outcomes`, which are those of the stages before `index`. Without one, its cost is estimated by `costs` and scaled by how
/// far the estimates of the stages before were off. Without `costs` such a stage counts nothing, and the text is
/// "; more than 2:10 left". Empty: no time is known.
std::string pipeline_time_left_text(const Pipeline& pipeline, std::size_t index,
                                    const std::vector<StageOutcome>& outcomes,
                                    const std::vector<bool>& left, const StageCosts& costs);

}  // namespace hone
