#pragma once

#include <memory>
#include <optional>

#include "hone/jobs/search/search.h"
#include "hone/jobs/search/study_tables.h"
#include "hone/jobs/search/trial_cache.h"

namespace hone {

/// The study attribute with the identity of a study, which runs that resume or join it are compared with.
inline constexpr const char* kIdentityAttribute = "identity";
/// User attributes of trials.
inline constexpr const char* kAllocatedAttribute = "allocated";
inline constexpr const char* kFromCheckpointAttribute = "from_checkpoint";
/// The weights were trained by an earlier trial; the seconds of this one include that training.
inline constexpr const char* kTrainedBeforeAttribute = "trained_before";

/// Runs the trials of one worker, from parameters to objective values. Keeps its best model for `model_of`.
class SearchObjective {
 public:
  /// All arguments must outlive it. Workers on this machine lock the file `machine_lock` while latencies are measured.
  SearchObjective(const SearchJob& job, const TrialSubject& subject, const TrialSpace& space,
                  const fs::path& machine_lock, Context& context);

  TrialOutcome operator()(TrialRun& run);

  /// Returns the seed of a trial: that of the search, and another one for each repetition.
  std::uint64_t seed_of(const Trial& trial) const;
  /// Returns the model of a trial: the one it keeps, or a new one with the same bits.
  TrialModel model_of(const Trial& trial);
  /// Returns whether a formula of the recipe uses the latency.
  bool measures_latency() const;
  /// Returns the latency of the packed model at batch size 1 (`latency_ms` in hone/jobs/model_times.h), on the first
  /// validation examples, the same number for all models of a search. Waits until no trial of any search runs on this
  /// machine. Throws `UserError` if the lock file cannot be opened; `Interrupted`.
  double batch1_latency_ms(const Model& model) const;

 private:
  bool needs_evaluations() const { return job_.pruner != "none" || job_.budget.promote_by > 0; }
  TrialOutcome outcome_of(const std::map<std::string, double>& metrics) const;
  std::optional<TrialOutcome> from_cache(TrialRun& run, const TrialConfiguration& configuration,
                                         std::uint64_t seed);
  TrialOutcome computed(TrialRun& run, const TrialConfiguration& configuration, std::uint64_t seed);
  std::unique_ptr<ScratchFolder> checkpoints_for(TrialRun& run,
                                                 const TrialConfiguration& configuration,
                                                 std::uint64_t seed, TrialRecord& record,
                                                 TrialProgress& progress);
  double reported(const std::map<std::string, double>& metrics) const;
  void keep_if_best(const Trial& trial, const TrialOutcome& outcome, TrialModel model);

  const SearchJob& job_;
  const TrialSubject& subject_;
  const TrialSpace& space_;
  fs::path machine_lock_;
  Context& context_;
  TrialCache cache_;
  TeacherLogits teacher_logits_;                               // teacher logits, shared by trials
  std::map<std::string, LayerDivergences> layer_divergences_;  // of single layers, shared by trials
  struct KeptTrial {
    std::int64_t number = -1;
    double loss = 0;
    TrialModel model;
  };
  std::optional<KeptTrial> kept_;
};

}  // namespace hone
