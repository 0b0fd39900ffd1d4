#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "hone/base/progress.h"
#include "hone/jobs/search/study_figures.h"
#include "hone/runtime/context.h"

namespace hone {

/// A request to follow a study while it runs.
struct WatchJob {
  std::string storage;      ///< as in `StudyJob`
  std::string study = {};   ///< empty: the one with the last activity
  std::int64_t last = 10;   ///< number of finished trials to print first
  double idle_seconds = 0;  ///< ends after this long without activity; 0: never
};

/// A finished trial.
struct WatchedTrial {
  const DescribedStudy& study;
  const Trial& trial;
  bool is_best;  ///< better than all that finished before it
};

/// The machine-readable result.
struct WatchFields {
  std::string study;
  std::int64_t number = -1;
  TrialState state = TrialState::complete;
  std::vector<double> values = {};
  bool is_best = false;
  std::optional<double> seconds = {};
  Json parameters = {};
};
const Fields& fields_of(const WatchFields*);
WatchFields watch_fields(const WatchedTrial& watched);

/// Calls `on_trial` for every trial that finishes, by number if several finish at once. Shows the number of trials, the
/// best one, and the remaining time if the study has a number of trials. Ends on an interrupt, or by `idle_seconds`.
/// Returns a sentence about the study. Throws `UserError` as `manage_studies` does.
std::string watch_study(const WatchJob& job,
                        const std::function<void(const WatchedTrial&, Progress&)>& on_trial,
                        const Context& context);

}  // namespace hone
