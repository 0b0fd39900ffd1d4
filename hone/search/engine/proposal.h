#pragma once

#include "hone/search/engine/trial_table.h"

/// What the next trial of a study is, as a function of the trials that it may know of.
namespace hone {

/// A new trial, or why there is none.
struct Proposal {
  std::optional<Trial> trial = {};
  std::optional<EndReason> end = {};
};

class Proposer {
 public:
  /// Throws `UserError` for options that mean nothing.
  Proposer(const Study& study, Sampler& sampler, const Pruner& pruner,
           const SearchOptions& options);

  /// Whether trials of that number and above are beyond the budget.
  bool beyond_budget(const TrialTable& table, std::int64_t number) const;
  /// The trial that gets the next number: one that goes on, a repetition, or a point of the space that is new. Throws `UserError` for a
  /// space that objects to whatever is drawn.
  Proposal propose(const TrialTable& table);
  /// Gives a trial that was claimed its parameters. Throws `UserError`: values that are fixed are none of the space.
  void complete(const TrialTable& table, Trial& claimed);
  /// Whether nothing is drawn for it, as all of its values are fixed.
  bool is_fixed(const Trial& claimed) const;

 private:
  StudyView sampler_view(const KnownTrials& known, std::int64_t number);
  // The trial with values of draw `draw` of that number, and what the space has against them.
  Trial drawn(const StudyView& view, const Trial& trial, std::int64_t number, int draw,
              std::string& objection);
  // False: there is no other point than those that were tried.
  bool suggest_new(const StudyView& view, Trial& trial, std::int64_t number);

  const Study& study_;
  Sampler& sampler_;
  const Pruner& pruner_;
  const SearchOptions& options_;
  bool finite_;
  PenalizedFailures failures_;
};

/// How many complete trials there were since the last that was better than all before, of several objectives: that none before dominates
/// or equals. `points`: those of `points_of`.
std::int64_t trials_without_gain(const StudyView& points);

}  // namespace hone
