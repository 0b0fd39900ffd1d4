#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/fields.h"
#include "hone/search/distribution.h"

/// Studies and their trials, as used by samplers, pruners, storages and reports. The terms are Optuna's.
namespace hone {

enum class Direction : std::uint8_t { minimize, maximize };
std::span<const EnumName> enum_names(Direction);

/// States with Optuna's numbers.
enum class TrialState : std::uint8_t {
  running = 0,
  complete = 1,
  pruned = 2,
  fail = 3,
  waiting = 4
};
inline bool is_finished(TrialState state) {
  return state != TrialState::running && state != TrialState::waiting;
}
/// Returns "RUNNING", "COMPLETE", "PRUNED", "FAIL", "WAITING".
std::string_view to_string(TrialState state);
/// The same names in lower case.
std::span<const EnumName> enum_names(TrialState);

/// A parameter of a trial, with its internal value.
struct TrialParameter {
  std::string name;
  Distribution distribution;
  double value = 0;
};

/// Returns the number of a trial shown to users, from 1. Storages, JSON and exports use its number, from 0 as in
/// Optuna.
inline std::int64_t shown_number(std::int64_t number) { return number + 1; }

struct Trial {
  std::int64_t id = -1;      ///< in the storage
  std::int64_t number = -1;  ///< within the study, from 0
  TrialState state = TrialState::running;
  std::vector<double> values = {};              ///< one per objective; empty until set
  std::vector<TrialParameter> parameters = {};  ///< in the order of suggestion
  std::map<std::int64_t, double> reports = {};  ///< intermediate values by step, NaN included
  std::map<std::string, Json> user_attributes = {};
  std::map<std::string, Json> system_attributes = {};
  std::string start = {};  ///< "2026-11-25 03:00:59.123456", UTC; empty: waiting
  std::string end = {};    ///< empty: not finished

  /// Returns null if it has no parameter with this name.
  const TrialParameter* parameter(std::string_view name) const;
  /// Returns by how much constraints are violated: the sum of the positive values of `constraints` (a list) and of
  /// all `constraints:KEY` among the system attributes. 0: feasible.
  double violation() const;
};

/// A study with the trials that a sampler or pruner may know.
struct StudyView {
  std::string name = {};
  std::vector<Direction> directions = {Direction::minimize};
  /// By number, without the current trial. The owner keeps finished trials unchanged and at their address in memory,
  /// so values computed from them stay valid.
  std::vector<const Trial*> trials = {};

  bool has_several_objectives() const { return directions.size() > 1; }
};

/// Returns `value` with the sign for which lower is better.
inline double loss_of(double value, Direction direction) {
  return direction == Direction::minimize ? value : -value;
}

/// Returns the best complete, feasible trial of a study with one objective, the first among equals. Null: there is
/// none.
const Trial* best_trial(const StudyView& study);
/// Returns the complete, feasible trials that no other dominates, by number, including equal ones.
std::vector<const Trial*> pareto_front(const StudyView& study);

}  // namespace hone
