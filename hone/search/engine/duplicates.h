#pragma once

#include <set>

#include "hone/search/search.h"

/// Tried and untried points of a finite space.
namespace hone {

/// Returns the keys (`key_of`) of the points of all trials, including failed and running ones.
std::set<std::string> keys_of(const StudyView& view);

/// Maximum number of points of a small space, which is enumerated when draws find no new point.
inline constexpr std::uint64_t kSmallSpace = 100'000;

/// The untried points of a small space.
struct UntriedPoints {
  bool small = false;                      ///< false: the space is too large and was not counted
  std::uint64_t count = 0;                 ///< valid points that are not among `tried`
  std::vector<TrialParameter> drawn = {};  ///< one of them, drawn uniformly; empty if there is none
};

/// Enumerates the space twice. `fixed` are external values that a point must have. The point drawn is a function of
/// (seed, number).
UntriedPoints untried_points(const SearchSpace& space, const std::set<std::string>& tried,
                             const Json& fixed, std::uint64_t seed, std::int64_t number);

}  // namespace hone
