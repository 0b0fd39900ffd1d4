#pragma once

#include <cstdint>
#include <vector>

/// Points of several losses, of which less is better: which are better than others, and by how much.
namespace hone {

using LossVectors = std::vector<std::vector<double>>;

/// Rank 0 for points that none dominates, 1 for those that only points of rank 0 dominate, … Equal points share a rank. Once `enough`
/// different points have theirs, all others get the next one.
std::vector<std::int64_t> non_domination_ranks(const LossVectors& points, std::size_t enough);

/// Beyond the worst of every loss by a tenth of it; where that is 0, 1e-12.
std::vector<double> reference_point(const LossVectors& points);

/// The volume that is dominated by `points` and dominates `reference`. Infinite where the reference is not finite.
double hypervolume(LossVectors points, const std::vector<double>& reference);

/// Indices of `count` points that together dominate much: each is the one that adds most to those before it, of equal ones the first by its
/// losses (greedy; Guerreiro, Fonseca, Paquete 2016). Equal points are chosen once while there are others.
std::vector<std::size_t> largest_hypervolume_subset(const LossVectors& points, std::size_t count,
                                                    const std::vector<double>& reference);

/// Which `count` points (fewer than there are) are the best: whole ranks while they fit, then of one rank those that dominate most.
std::vector<bool> best_by_rank(const LossVectors& points, std::size_t count);

/// By how much the hypervolume shrinks without each point, 0 for those that others dominate; a share of the largest, at least 1e-12. 1 for all
/// where volumes are infinite. The weights of good trials of Optuna before 5.
std::vector<double> hypervolume_weights(const LossVectors& points);

}  // namespace hone
