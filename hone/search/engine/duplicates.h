#pragma once

#include <set>

#include "hone/search/search.h"

/// Points of a finite space that were tried, and those that were not.
namespace hone {

/// The keys (`key_of`) of points that trials have, failed ones and those that run included.
std::set<std::string> keys_of(const StudyView& view);

/// The most points of a space that is small: they are gone through one by one where draws find no new one.
inline constexpr std::uint64_t kSmallSpace = 100'000;

/// What is left of a small space.
struct UntriedPoints {
  bool small = false;  ///< false: nothing was counted
  std::uint64_t count =
      0;  ///< points that the space has no objection to and that are not among `tried`
  std::vector<TrialParameter> drawn =
      {};  ///< one of them, each as likely; empty where there is none
};

/// Goes through the space twice. `fixed` are external values that a point is to have. The point is a function of (seed, number).
UntriedPoints untried_points(const SearchSpace& space, const std::set<std::string>& tried,
                             const Json& fixed, std::uint64_t seed, std::int64_t number);

}  // namespace hone
