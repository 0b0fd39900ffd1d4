#pragma once

#include <cstdint>
#include <optional>

namespace hone {

/// How sparsity rises while a model is trained: Zhu and Gupta, "To prune, or not to prune" (arXiv 1710.01878), equation 1, from
/// no sparsity at the first step.
///
///     s(t) / s_f = 1 - (1 - t / T)^3,   t = 0, D, 2 D, ... T
struct SparsitySchedule {
  std::int64_t rising_steps = 0;   ///< T; from there on it is s_f
  std::int64_t between_steps = 1;  ///< D: steps between two prunings

  /// The share of the final sparsity that masks take on before the step that `step` finished ones precede
  /// (`PruneRule::reached`); nothing where they stay as they are.
  std::optional<double> at(std::int64_t step) const;
};

/// Of a training of so many steps: it rises over the first `rising_share` of them, by 50 prunings at most. Throws `UserError` for
/// a share outside (0, 1], and where the training has no steps.
SparsitySchedule cubic_schedule(double rising_share, std::int64_t total_steps);

}  // namespace hone
