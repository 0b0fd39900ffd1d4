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

/// A study to be followed while it runs.
struct WatchJob {
  std::string storage;      ///< the same
  std::string study = {};   ///< empty: the one in which something happened last
  std::int64_t last = 10;   ///< trials that have ended already and are told first
  double idle_seconds = 0;  ///< ends when nothing has happened in it for so long; 0: never
};

/// A trial that has ended.
struct WatchedTrial {
  const ShownStudy& study;
  const Trial& trial;
  bool is_best;  ///< better than all that ended before it
};

/// The same for programs.
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

/// Tells every trial that ends, those of one look by number, and shows how many there are, the best and, where the study says how many
/// it will be, the time that is left. Ends when somebody interrupts it, or by `idle_seconds`; returns the study in a sentence. Throws
/// `UserError` as `tell_studies`.
std::string watch_study(const WatchJob& job,
                        const std::function<void(const WatchedTrial&, Progress&)>& tell,
                        const Context& context);

}  // namespace hone
