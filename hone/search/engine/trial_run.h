#pragma once

#include "hone/base/thread_pool.h"
#include "hone/search/engine/trial_table.h"

namespace hone {

/// A trial of a study while its objective runs. What it is told is written to the storage at once; the pruner sees the trials that the
/// trial may know of, in an asynchronous search those of the moment.
class StudyRun : public TrialRun {
 public:
  StudyRun(StudyStorage& storage, const Study& study, const Pruner& pruner,
           const SearchOptions& options, TrialTable& table, Trial trial);

  const Trial& trial() const override { return trial_; }
  const Assignment& values() const override { return values_; }
  bool report(std::int64_t step, double value) override;
  void set_user_attribute(const std::string& key, const Json& value) override;

  /// Runs the objective; what it throws is a failure. Throws `Interrupted`, and what the storage threw.
  TrialEnd end_of(const Objective& objective);

 private:
  void store(FunctionRef<void()> access);
  // The trials that the pruner sees.
  const StudyView& others();
  TrialEnd end_of(const TrialOutcome& outcome) const;

  StudyStorage& storage_;
  const Study& study_;
  const Pruner& pruner_;
  const SearchOptions& options_;
  TrialTable& table_;
  Trial trial_;
  Assignment values_;
  std::optional<KnownTrials> known_;  // as soon as there is a report
  StudyView others_;
  std::exception_ptr storage_failure_;
};

}  // namespace hone
