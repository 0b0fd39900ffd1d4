#pragma once

#include <cstdint>
#include <optional>

namespace hone {

/// How sparsity rises while a model is trained: Zhu and Gupta, "To prune, or not to prune" (arXiv 1710.01878), equation 1, from
/// no sparsity at step t_0.
///
///     s(t) / s_f = 1 - (1 - (t - t_0) / (T - t_0))^3,   t = t_0, t_0 + D, t_0 + 2 D, ... T
struct SparsitySchedule {
  std::int64_t begin = 0;          ///< t_0; before it nothing is pruned
  std::int64_t end = 0;            ///< T; from there on it is s_f
  std::int64_t between_steps = 1;  ///< D: steps between two prunings

  /// The share of the final sparsity that masks take on before the step that `step` finished ones precede
  /// (`PruneRule::reached`); nothing where they stay as they are.
  std::optional<double> at(std::int64_t step) const;
};

/// The schedule of a training of `total_steps`: it begins when the learning rate has warmed up, and ends with the first `rising_share` of all
/// steps, by 50 prunings at most. Throws `UserError` for a share outside (0, 1], where the training has no steps, and where the
/// warm-up leaves none.
SparsitySchedule cubic_schedule(double rising_share, std::int64_t total_steps,
                                std::int64_t warmup_steps = 0);

}  // namespace hone
