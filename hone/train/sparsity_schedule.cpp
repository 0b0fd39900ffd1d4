#include "hone/train/sparsity_schedule.h"

#include <algorithm>
#include <cmath>

#include "hone/base/error.h"

namespace hone {
namespace {

constexpr std::int64_t kMaxPrunings = 50;

}  // namespace

std::optional<double> SparsitySchedule::at(std::int64_t step) const {
  if (step < begin || step > end) return std::nullopt;
  if (step == end) return 1.0;
  if ((step - begin) % between_steps != 0) return std::nullopt;
  const double left = 1 - static_cast<double>(step - begin) / static_cast<double>(end - begin);
  return 1 - left * left * left;
}

SparsitySchedule cubic_schedule(double ramp_share, std::int64_t total_steps,
                                std::int64_t warmup_steps) {
  user_check(ramp_share > 0 && ramp_share <= 1,
             "`ramp`: expected a share of the training above 0 and up to 1, got {}", ramp_share);
  user_check(total_steps >= 2,
             "`schedule` cubic raises sparsity during training, which needs at least two "
             "steps, got {}; give more steps, or prune in one shot",
             total_steps == 1 ? "one step" : "none");
  // Leaves at least one training step after the last pruning.
  const std::int64_t end = std::clamp<std::int64_t>(
      static_cast<std::int64_t>(std::ceil(ramp_share * static_cast<double>(total_steps))), 1,
      total_steps - 1);
  user_check(
      warmup_steps < end,
      "`schedule` cubic starts after the warm-up of {} steps, and `ramp` ends it at step {}; "
      "give a shorter warm-up, or a larger `ramp`",
      warmup_steps, end);
  return {warmup_steps, end, (end - warmup_steps + kMaxPrunings - 1) / kMaxPrunings};
}

}  // namespace hone
