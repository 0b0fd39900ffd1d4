#pragma once

#include "hone/base/thread_pool.h"
#include "hone/search/engine/trial_table.h"

namespace hone {

/// A trial of a study while its objective runs. Reports and attributes are stored at once. The pruner sees the trials
/// known to this trial; in an asynchronous search, all current ones.
class StudyRun : public TrialRun {
 public:
  StudyRun(StudyStorage& storage, const Study& study, const Pruner& pruner,
           const SearchOptions& options, TrialTable& table, Trial trial);

  const Trial& trial() const override { return trial_; }
  const Assignment& values() const override { return values_; }
  bool report(std::int64_t step, double value) override;
  void set_user_attribute(const std::string& key, const Json& value) override;

  /// Runs the objective; its exceptions are failures of the trial. Throws `Interrupted`, and errors of the storage.
  TrialEnd end_of(const Objective& objective);

 private:
  void store(FunctionRef<void()> access);
  // Returns the trials that the pruner sees.
  const StudyView& others();
  TrialEnd end_of(const TrialOutcome& outcome) const;

  StudyStorage& storage_;
  const Study& study_;
  const Pruner& pruner_;
  const SearchOptions& options_;
  TrialTable& table_;
  Trial trial_;
  Assignment values_;
  std::optional<KnownTrials> known_;  // set on the first report
  StudyView others_;
  std::exception_ptr storage_failure_;
};

}  // namespace hone
