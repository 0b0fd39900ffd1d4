#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "hone/jobs/allocation/allocate.h"
#include "hone/jobs/allocation/allocation_trials.h"

/// Findings of an allocation in words: the accuracy of its prediction, the effect of the swaps, its cost.
namespace hone {

/// What swaps around the best of the front changed.
struct Correction {
  std::size_t before = 0,
              after = 0;  ///< of the points: the best of the front within the budgets, and of all
};

/// What was found on the way to an allocation.
struct AllocationFindings {
  const AllocateJob& job;
  const TrialSubject& subject;
  const LayerCosts& costs;
  std::int64_t sampled = 0;                    ///< texts that layers alone were measured on
  std::vector<std::vector<Divergence>> alone;  ///< (layers, options)
  BudgetedFront solved = {};
  std::vector<MeasuredPoint> points = {};
  std::size_t chosen = 0;  ///< of the points
  Correction correction = {};
  std::int64_t from_store = 0;  ///< whole models that the store of trials knew
  std::string search = {};      ///< recipe of a search that begins with the front
  /// The chosen one whole, beside the model as it is; where a budget is of times.
  std::optional<ModelTimes> timed = {};

  const MeasuredPoint& best() const { return points[chosen]; }
};

/// How far sums over layers were from what whole models did, over the measured points of the front.
struct PredictionCheck {
  std::size_t points = 0;
  double rank_correlation = 0;  ///< Spearman's; NaN where nothing varies
  Interval interval;            ///< 95%
  double worst_residual = 0;    ///< measured less predicted, where that is farthest from 0
  std::int64_t worst_trial = 0;
  /// What the figure by which the task is judged lost at each point, by rising prediction, and the nearest losses that rise with it.
  std::vector<double> lost = {}, fitted = {};
  double worst_misfit = 0;  ///< lost less fitted, where that is farthest from 0
  std::int64_t misfit_trial = 0;
};
const Fields& fields_of(const PredictionCheck*);
/// `figure`: of the model as it is.
PredictionCheck check_prediction(const std::vector<MeasuredPoint>& points, double figure);

/// Of those within the budgets that cost less than the chosen one, the cheapest whose divergence lies in the 95% interval of the chosen one's,
/// or below; none where the chosen one is the cheapest such.
std::optional<std::size_t> cheaper_alike(const std::vector<MeasuredPoint>& points,
                                         std::size_t chosen,
                                         const std::function<double(const MeasuredPoint&)>& cost);

/// Of what was found.
PredictionCheck checked(const AllocationFindings& findings);

/// "0.0012 (95% CI 0.001 to 0.0014)"
std::string divergence_text(const Divergence& divergence);

/// Whether sums over layers rank whole models badly.
bool ranks_badly(const PredictionCheck& check);

/// A paragraph each, for the report.
std::vector<std::string> sentences_of(const AllocationFindings& findings);

}  // namespace hone
