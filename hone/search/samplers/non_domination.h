#pragma once

#include <cstdint>
#include <vector>

/// Comparison of points with several losses, which are to be minimized.
namespace hone {

using LossVectors = std::vector<std::vector<double>>;

/// Returns rank 0 for undominated points, 1 for those that only points of rank 0 dominate, … Equal points share a
/// rank. Once `enough` distinct points are ranked, all others get the next rank.
std::vector<std::int64_t> non_domination_ranks(const LossVectors& points, std::size_t enough);

/// Returns the worst value of every loss, worsened by a tenth of its magnitude; by 1e-12 if it is 0.
std::vector<double> reference_point(const LossVectors& points);

/// Returns the volume that is dominated by `points` and dominates `reference`. Infinite if the reference is not finite.
double hypervolume(LossVectors points, const std::vector<double>& reference);

/// Returns the indices of `count` points that together dominate a large volume: greedily adds the point that
/// contributes most, the first by its losses among equals (Guerreiro, Fonseca, Paquete 2016). Duplicates are chosen
/// only when no other points are left.
std::vector<std::size_t> largest_hypervolume_subset(const LossVectors& points, std::size_t count,
                                                    const std::vector<double>& reference);

/// Marks the best `count` points (fewer than there are): whole ranks while they fit, then those of the next rank that
/// dominate most.
std::vector<bool> best_by_rank(const LossVectors& points, std::size_t count);

/// Returns how much the hypervolume shrinks without each point, 0 for dominated ones; relative to the largest, at
/// least 1e-12. 1 for all if volumes are infinite. Optuna before 5 weights good trials by it.
std::vector<double> hypervolume_weights(const LossVectors& points);

}  // namespace hone
