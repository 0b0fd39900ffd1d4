#include "hone/jobs/pipeline/pipeline_estimate.h"

#include <algorithm>
#include <map>

#include "hone/base/progress.h"
#include "hone/base/text.h"
#include "hone/jobs/pipeline/pipeline_report.h"
#include "hone/train/memory_check.h"

namespace hone {

std::string pipeline_cost_text(const Pipeline& pipeline, const std::vector<bool>& left,
                               const StageCosts& costs) {
  if (!costs) return "";
  StageCost total;
  for (std::size_t i = 0; i < left.size(); ++i) {
    if (!left[i]) continue;
    const StageCost cost = costs(pipeline.stages[i]);
    total.seconds += cost.seconds;
    total.memory_bytes = std::max(total.memory_bytes, cost.memory_bytes);
    total.disk_bytes += cost.disk_bytes;
  }
  return fmt::format(
      "; about {}, up to {} of memory in addition to the data ({} available) and {} of disk",
      clock_text(std::max(1.0, total.seconds)), human_bytes(total.memory_bytes),
      human_bytes(available_bytes()), human_bytes(total.disk_bytes));
}

std::string pipeline_time_left_text(const Pipeline& pipeline, std::size_t index,
                                    const std::vector<StageOutcome>& outcomes,
                                    const std::vector<bool>& left, const StageCosts& costs) {
  std::map<std::string, std::pair<double, int>> known;
  double taken = 0, estimated = 0;
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    const PipelineStage& stage = pipeline.stages[i];
    auto& [seconds, count] = known[stage.group];
    seconds += outcomes[i].seconds;
    ++count;
    if (!costs || outcomes[i].state != StageState::computed) continue;
    taken += outcomes[i].seconds;
    estimated += costs(stage).seconds;
  }
  double seconds_left = 0;
  bool all = true;
  for (std::size_t i = index; i < pipeline.stages.size(); ++i) {
    if (!left[i]) continue;
    const PipelineStage& stage = pipeline.stages[i];
    if (const auto group = known.find(stage.group); group != known.end()) {
      seconds_left += group->second.first / group->second.second;
    } else if (costs) {
      seconds_left += (estimated > 0 ? taken / estimated : 1) * costs(stage).seconds;
    } else {
      all = false;
    }
  }
  if (seconds_left == 0) return "";
  return fmt::format("; {} {} left", all ? "about" : "more than",
                     clock_text(std::max(1.0, seconds_left)));
}

}  // namespace hone
