#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "hone/jobs/allocation/allocate.h"
#include "hone/jobs/allocation/allocation_trials.h"

/// Sentences about an allocation: the accuracy of its prediction, the effect of the swaps, its cost.
namespace hone {

/// The effect of the swaps around the best front point, as indices of measured points.
struct Correction {
  std::size_t before = 0,
              after = 0;  ///< best within the budgets: of the front, and of all points
};

/// Everything that an allocation run found.
struct AllocationFindings {
  const AllocateJob& job;
  const TrialSubject& subject;
  const LayerCosts& costs;
  std::int64_t sampled = 0;  ///< texts on which single layers were measured
  std::vector<std::vector<Divergence>> layer_divergences;  ///< (layers, options)
  BudgetedFront solved = {};
  std::vector<MeasuredPoint> points = {};
  std::size_t chosen = 0;  ///< index into `points`
  Correction correction = {};
  std::int64_t from_store = 0;  ///< whole models taken from the trial cache
  std::string search = {};      ///< recipe of a search that starts from the front
  /// Latency of the chosen model and of the baseline; only with a latency budget.
  std::optional<ModelTimes> timed = {};

  const MeasuredPoint& best() const { return points[chosen]; }
};

/// Compares sums over layers with measurements of whole models, over the measured points of the front.
struct PredictionCheck {
  std::size_t points = 0;
  double rank_correlation = 0;  ///< Spearman's; NaN if nothing varies
  Interval interval;            ///< 95%
  double worst_residual = 0;    ///< measured minus predicted divergence, the one farthest from 0
  std::int64_t worst_trial = 0;
  /// Drop of the task's metric at each point, by rising prediction, and its isotonic fit.
  std::vector<double> lost = {}, fitted = {};
  double worst_misfit = 0;  ///< lost minus fitted, the one farthest from 0
  std::int64_t misfit_trial = 0;
};
const Fields& fields_of(const PredictionCheck*);
/// `baseline_metric` is the metric of the baseline.
PredictionCheck check_prediction(const std::vector<MeasuredPoint>& points, double baseline_metric);

/// Returns the cheapest point whose divergence is at most the upper end of the chosen point's 95% interval. Returns
/// none unless it is cheaper than the chosen point. `cost` is infinite outside the budgets.
std::optional<std::size_t> cheaper_equivalent(
    const std::vector<MeasuredPoint>& points, std::size_t chosen,
    const std::function<double(const MeasuredPoint&)>& cost);

PredictionCheck prediction_check_of(const AllocationFindings& findings);

/// "0.0012 (95% CI 0.001 to 0.0014)"
std::string divergence_text(const Divergence& divergence);

/// Returns whether sums over layers rank whole models badly.
bool ranks_badly(const PredictionCheck& check);

/// Returns the paragraphs of the report.
std::vector<std::string> sentences_of(const AllocationFindings& findings);

}  // namespace hone
