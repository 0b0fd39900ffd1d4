#pragma once

#include <memory>
#include <optional>

#include "hone/jobs/search/search.h"
#include "hone/jobs/search/study_tables.h"
#include "hone/jobs/search/trial_cache.h"

namespace hone {

/// The study attribute that keeps what a study is of, to be compared with what goes on with it.
inline constexpr const char* kIdentityAttribute = "identity";
/// User attributes of trials.
inline constexpr const char* kAllocatedAttribute = "allocated";
inline constexpr const char* kFromCheckpointAttribute = "from_checkpoint";
/// Weights were trained by a trial before; what that took is in the seconds of this one.
inline constexpr const char* kTrainedBeforeAttribute = "trained_before";

/// Runs trials of one worker: from the values of a point to those of its objectives. Holds on to the best model that it made, so that
/// the winner need not be made again.
class SearchObjective {
 public:
  /// All must outlive it. `machine_lock`: a file that workers on this machine lock while times are measured.
  SearchObjective(const SearchJob& job, const TrialSubject& subject, const TrialSpace& space,
                  const fs::path& machine_lock, Context& context);

  TrialOutcome operator()(TrialRun& run);

  /// The seed that a trial is run with: that of the search, another one for each repetition.
  std::uint64_t seed_of(const Trial& trial) const;
  /// The model of a trial: the one at hand, or made again, to the same bits.
  TrialModel model_of(const Trial& trial);
  /// Whether a formula of the recipe has the latency.
  bool measures_latency() const;
  /// Returns the latency of the packed model at batch size 1 (`latency_ms` in hone/jobs/model_times.h), on the first examples of
  /// validation, as many for all models of a search, while no trial of any search on this machine runs. Throws `UserError` where the lock
  /// file cannot be opened; `Interrupted`.
  double latency_alone(const Model& model) const;

 private:
  bool watches() const { return job_.pruner != "none" || job_.budget.promote_by > 0; }
  TrialOutcome outcome_of(const std::map<std::string, double>& metrics) const;
  std::optional<TrialOutcome> from_cache(TrialRun& run, const TrialConfiguration& configuration,
                                         std::uint64_t seed);
  TrialOutcome computed(TrialRun& run, const TrialConfiguration& configuration, std::uint64_t seed);
  std::unique_ptr<ScratchFolder> checkpoints_for(TrialRun& run,
                                                 const TrialConfiguration& configuration,
                                                 std::uint64_t seed, TrialRecord& record,
                                                 TrialProgress& progress);
  double reported(const std::map<std::string, double>& metrics) const;
  void hold_if_better(const Trial& trial, const TrialOutcome& outcome, TrialModel model);

  const SearchJob& job_;
  const TrialSubject& subject_;
  const TrialSpace& space_;
  fs::path machine_lock_;
  Context& context_;
  TrialCache cache_;
  ParentLogits asked_;                             // of the parent, by trials before
  std::map<std::string, AloneDivergences> alone_;  // of layers, by trials before
  struct Held {
    std::int64_t number = -1;
    double loss = 0;
    TrialModel model;
  };
  std::optional<Held> held_;
};

}  // namespace hone
