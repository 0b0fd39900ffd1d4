#pragma once

#include "hone/search/engine/trial_table.h"

/// Proposes the next trial of a study, as a function of the trials that it may know.
namespace hone {

/// A new trial, or the reason why there is none.
struct Proposal {
  std::optional<Trial> trial = {};
  std::optional<EndReason> end = {};
};

class Proposer {
 public:
  /// Throws `UserError` for invalid options.
  Proposer(const Study& study, Sampler& sampler, const Pruner& pruner,
           const SearchOptions& options);

  /// Returns whether trials with this number and above exceed the budget.
  bool exceeds_budget(const TrialTable& table, std::int64_t number) const;
  /// Returns the trial that gets the next number: a continued trial, a repeat, or a new point of the space. Throws
  /// `UserError` if the space objects to all points drawn.
  Proposal propose(const TrialTable& table);
  /// Sets the parameters of a claimed trial. Throws `UserError` if its fixed values are invalid.
  void complete(const TrialTable& table, Trial& claimed);
  /// Returns whether all values of a trial are fixed, so that nothing is drawn.
  bool is_fixed(const Trial& claimed) const;

 private:
  StudyView sampler_view(const KnownTrials& known, std::int64_t number);
  // Returns the trial with the values of draw `draw` for that number; sets `objection` to the space's objection, if
  // any.
  Trial drawn(const StudyView& view, const Trial& trial, std::int64_t number, int draw,
              std::string& objection);
  // Returns false if all points were tried.
  bool suggest_new(const StudyView& view, Trial& trial, std::int64_t number);

  const Study& study_;
  Sampler& sampler_;
  const Pruner& pruner_;
  const SearchOptions& options_;
  bool finite_;
  PenalizedFailures failures_;
};

/// Returns the number of complete trials since the last that improved on all before; with several objectives, since
/// the last that no earlier trial dominated or equalled. `points`: those of `points_of`.
std::int64_t trials_without_gain(const StudyView& points);

}  // namespace hone
