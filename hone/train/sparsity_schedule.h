#pragma once

#include <cstdint>
#include <optional>

namespace hone {

/// Schedule of rising sparsity during training: Zhu and Gupta, "To prune, or not to prune" (arXiv 1710.01878),
/// equation 1, starting from no sparsity at step t_0.
///
///     s(t) / s_f = 1 - (1 - (t - t_0) / (T - t_0))^3,   t = t_0, t_0 + D, t_0 + 2 D, ... T
struct SparsitySchedule {
  std::int64_t begin = 0;          ///< t_0; nothing is pruned before it
  std::int64_t end = 0;            ///< T; from this step on sparsity is s_f
  std::int64_t between_steps = 1;  ///< D: steps between two prunings

  /// Returns the share of the final sparsity that masks have after `step` finished steps (`PruneRule::reached`);
  /// nothing if they do not change there.
  std::optional<double> at(std::int64_t step) const;
};

/// Returns the schedule for a training of `total_steps`: it begins after the warm-up and ends after the first
/// `ramp_share` of all steps, with at most 50 prunings. Throws `UserError` for a share outside (0, 1], if the
/// training has no steps, and if the warm-up leaves none.
SparsitySchedule cubic_schedule(double ramp_share, std::int64_t total_steps,
                                std::int64_t warmup_steps = 0);

}  // namespace hone
