#include "hone/jobs/search/watch_study.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <span>
#include <thread>

#include "hone/base/interrupt.h"
#include "hone/jobs/search/read_study.h"
#include "hone/jobs/search/study_tables.h"

namespace hone {
namespace {

LoadedStudy watched_study(StudyStorage& storage, const WatchJob& job) {
  std::vector<LoadedStudy> studies =
      read_studies(storage, job.storage,
                   job.study.empty() ? std::vector<std::string>{} : std::vector{job.study});
  user_check(!studies.empty(), "{}: has no study to watch", job.storage);
  return *std::ranges::max_element(studies, {}, last_time);
}

/// The progress of watching a study.
class Watch {
 public:
  Watch(const WatchJob& job, const Context& context)
      : job_(job), context_(context), changed_(Clock::now()) {}

  // Reports new trials; returns whether to go on.
  bool poll(const LoadedStudy& study,
            const std::function<void(const WatchedTrial&, Progress&)>& on_trial) {
    if (!progress_) begin(study);
    for (const auto& trial : study.trials) {
      if (!is_finished(trial->state) || !told_.insert(trial->number).second) continue;
      on_trial({study.shown, *trial, is_best(study, *trial)}, *progress_);
    }
    if (const std::string state = to_text(count_trials(study.shown.view)) + last_time(study);
        state != state_) {
      state_ = state;
      changed_ = Clock::now();
    }
    const TrialCounts counts = count_trials(study.shown.view);
    progress_->update(counts.finished(), note_of(study, counts));
    return job_.idle_seconds <= 0 ||
           std::chrono::duration<double>(Clock::now() - changed_).count() < job_.idle_seconds;
  }

 private:
  using Clock = std::chrono::steady_clock;

  // Skips finished trials before the last `job.last`.
  void begin(const LoadedStudy& study) {
    std::vector<std::int64_t> ended;
    for (const auto& trial : study.trials)
      if (is_finished(trial->state)) ended.push_back(trial->number);
    const std::int64_t known = std::max<std::int64_t>(0, std::ssize(ended) - job_.last);
    for (const std::int64_t number : std::span(ended).first(static_cast<std::size_t>(known))) {
      told_.insert(number);
      is_best(study, *study.trials[static_cast<std::size_t>(number)]);
    }
    const auto wanted = study.study.user_attributes.find(kWantedTrialsAttribute);
    const std::int64_t total =
        wanted != study.study.user_attributes.end() && wanted->second.is_number_integer()
            ? wanted->second.get<std::int64_t>()
            : 0;
    progress_.emplace(study.study.name, total,
                      ProgressOptions{.unit = "trials",
                                      .first = count_trials(study.shown.view).finished(),
                                      .output = context_.progress});
  }

  bool is_best(const LoadedStudy& study, const Trial& trial) {
    if (study.shown.view.has_several_objectives() || trial.state != TrialState::complete ||
        trial.violation() > 0)
      return false;
    const double loss = loss_of(trial.values[0], study.direction());
    if (!(loss < least_)) return false;
    least_ = loss;
    return true;
  }

  static std::string note_of(const LoadedStudy& study, const TrialCounts& counts) {
    return best_text(study.shown.view) +
           (counts.running > 0 ? fmt::format(", {} running", counts.running) : "");
  }

  const WatchJob& job_;
  const Context& context_;
  std::optional<Progress> progress_;
  std::set<std::int64_t> told_;
  double least_ = std::numeric_limits<double>::infinity();
  std::string state_;
  Clock::time_point changed_;
};

}  // namespace

const Fields& fields_of(const WatchFields*) {
  using W = WatchFields;
  static const Fields fields = describe<W>(
      "watch", "A trial that has ended. The command prints such an object on a line for each.",
      field<&W::study>("study", "Name of the study."),
      field<&W::number>("number", "Number of the trial, from 0."),
      field<&W::state>("state", "How it ended: complete, pruned or fail."),
      field<&W::values>("values", "Of the objectives; none unless it is complete."),
      field<&W::is_best>("is_best", "Whether it is better than all that ended before it."),
      field<&W::seconds>("seconds", Unit::seconds, "Its duration; null: not known."),
      field<&W::parameters>("parameters", "Its values by parameter."));
  return fields;
}

WatchFields watch_fields(const WatchedTrial& watched) {
  const double seconds = seconds_of(watched.trial);
  return {.study = watched.study.view.name,
          .number = watched.trial.number,
          .state = watched.trial.state,
          .values = watched.trial.values,
          .is_best = watched.is_best,
          .seconds = std::isfinite(seconds) ? std::optional(seconds) : std::nullopt,
          .parameters = shown_values(watched.study, watched.trial)};
}

std::string watch_study(const WatchJob& job,
                        const std::function<void(const WatchedTrial&, Progress&)>& on_trial,
                        const Context& context) {
  const std::unique_ptr<StudyStorage> storage =
      open_storage(current_storage_path(job.storage), /*must_exist=*/true);
  LoadedStudy study = watched_study(*storage, job);
  Watch watch(job, context);
  while (interrupt_signal() == 0 && watch.poll(study, on_trial)) {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    read_trials(*storage, study);
  }
  storage->close();
  return headline_of(study.shown);
}

}  // namespace hone
