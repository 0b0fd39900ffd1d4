#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/fields.h"
#include "hone/search/distribution.h"

/// Studies and their trials, as samplers, pruners, storages and reports know them. The terms are Optuna's.
namespace hone {

enum class Direction : std::uint8_t { minimize, maximize };
std::span<const EnumWord> enum_words(Direction);

/// Numbers as Optuna has them.
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
/// "RUNNING", "COMPLETE", "PRUNED", "FAIL", "WAITING".
std::string_view to_string(TrialState state);
/// The same in lower case.
std::span<const EnumWord> enum_words(TrialState);

/// A parameter of a trial, with the internal value that it has.
struct TrialParameter {
  std::string name;
  Distribution distribution;
  double value = 0;
};

/// Returns what people call a trial, counted from 1. Storages, JSON and exports have its number, from 0 as Optuna's.
inline std::int64_t shown_number(std::int64_t number) { return number + 1; }

struct Trial {
  std::int64_t id = -1;      ///< of the storage
  std::int64_t number = -1;  ///< within the study, from 0
  TrialState state = TrialState::running;
  std::vector<double> values = {};              ///< one for each objective; empty until it is told
  std::vector<TrialParameter> parameters = {};  ///< in the order in which they were suggested
  std::map<std::int64_t, double> reports = {};  ///< intermediate values by step, NaN included
  std::map<std::string, Json> user_attributes = {};
  std::map<std::string, Json> system_attributes = {};
  std::string start = {};  ///< "2026-11-25 03:00:59.123456", UTC; empty: it waits
  std::string end = {};    ///< empty: not finished

  /// Null: it has none of that name.
  const TrialParameter* parameter(std::string_view name) const;
  /// By how much constraints are violated: the sum of the positive values of `constraints` (a list) and of all
  /// `constraints:KEY` among the system attributes. 0: feasible.
  double violation() const;
};

/// What samplers and pruners are told: a study, and those of its trials that they may know of.
struct StudyView {
  std::string name = {};
  std::vector<Direction> directions = {Direction::minimize};
  /// By number, without the one that is asked for. Whoever owns them keeps a finished one unchanged and at its place in memory,
  /// so what was computed of it stands.
  std::vector<const Trial*> trials = {};

  bool has_several_objectives() const { return directions.size() > 1; }
};

/// `value` so that less is better.
inline double loss_of(double value, Direction direction) {
  return direction == Direction::minimize ? value : -value;
}

/// The best complete, feasible trial of a study of one objective, of equal ones the first. Null: there is none.
const Trial* best_trial(const StudyView& study);
/// The complete, feasible trials that no other dominates, by number; equal ones all stay.
std::vector<const Trial*> pareto_front(const StudyView& study);

}  // namespace hone
