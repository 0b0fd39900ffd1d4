#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "hone/search/trial.h"

/// What is searched: parameters in an order in which each depends on earlier ones alone.
namespace hone {

/// External values by name.
using Assignment = std::map<std::string, Json>;

struct SpaceParameter {
  std::string name;
  Distribution distribution;
  /// Whether a trial with these values of earlier parameters has it; null: every trial.
  std::function<bool(const Assignment& earlier)> active = {};
};

struct SearchSpace {
  std::vector<SpaceParameter> parameters = {};
  /// Why an assignment is none; "" where it is. Null: all are.
  std::function<std::string(const Assignment&)> objection = {};

  /// Null: there is none of that name.
  const SpaceParameter* find(std::string_view name) const;
  /// Whether every combination of values is a point.
  bool independent() const;
  /// The active parameters of an assignment with their internal values, in order. Throws `UserError`, naming the parameter, for
  /// a value that it cannot have, one that is missing, and names that the space does not have or that are not active.
  std::vector<TrialParameter> parameters_of(const Assignment& values) const;
};

Assignment assignment_of(const std::vector<TrialParameter>& parameters);

/// Tells equal points from different ones: one line of all names and internal values, in order of the names.
std::string key_of(const std::vector<TrialParameter>& parameters);

/// Goes through the points of a finite space, in order, as long as `visit` wants another one, and looks at no more than `most`, those that
/// the space objects to included. `fixed`: an object of external values that points are to have. Returns false where there are more.
bool walk_points(const SearchSpace& space,
                 const std::function<bool(const std::vector<TrialParameter>&)>& visit,
                 std::uint64_t most, const Json& fixed = Json::object());

/// Whether all parameters have finitely many values.
bool is_finite(const SearchSpace& space);

/// How many points the space has, counted one by one where parameters depend on each other. None: more than `limit`, infinitely many, or
/// so many objections that counting takes long.
std::optional<std::uint64_t> count_points(const SearchSpace& space,
                                          std::uint64_t limit = 1'000'000);

}  // namespace hone
