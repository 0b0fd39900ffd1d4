#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "hone/search/trial.h"

/// The search space: parameters, ordered so that each depends only on earlier ones.
namespace hone {

/// External values by name.
using Assignment = std::map<std::string, Json>;

struct SpaceParameter {
  std::string name;
  Distribution distribution;
  /// Returns whether a trial with these values of earlier parameters has this one; null: every trial has it.
  std::function<bool(const Assignment& earlier)> active = {};
};

struct SearchSpace {
  std::vector<SpaceParameter> parameters = {};
  /// Returns why an assignment is not a point; "" if it is one. Null: all are.
  std::function<std::string(const Assignment&)> objection = {};

  /// Returns null if there is no parameter with this name.
  const SpaceParameter* find(std::string_view name) const;
  /// Returns whether every combination of values is a point.
  bool independent() const;
  /// Returns the active parameters of an assignment with their internal values, in order. Throws `UserError`, naming
  /// the parameter, for an invalid or a missing value, and for unknown or inactive parameters.
  std::vector<TrialParameter> parameters_of(const Assignment& values) const;
};

Assignment assignment_of(const std::vector<TrialParameter>& parameters);

/// Returns a key that is equal for equal points: one line of all names and internal values, ordered by name.
std::string key_of(const std::vector<TrialParameter>& parameters);

/// Calls `visit` for the points of a finite space, in order, until it returns false; examines at most `most` points,
/// including those that the space objects to. `fixed`: an object of external values that points must have. Returns
/// false if there are more.
bool walk_points(const SearchSpace& space,
                 const std::function<bool(const std::vector<TrialParameter>&)>& visit,
                 std::uint64_t most, const Json& fixed = Json::object());

/// Returns whether all parameters have finitely many values.
bool is_finite(const SearchSpace& space);

/// Returns the number of points, by enumeration if parameters depend on each other. None: more than `limit`,
/// infinitely many, or too many objections to count quickly.
std::optional<std::uint64_t> count_points(const SearchSpace& space,
                                          std::uint64_t limit = 1'000'000);

}  // namespace hone
