#pragma once

#include "hone/base/output_folder.h"
#include "hone/jobs/allocate.h"
#include "hone/jobs/allocation_trials.h"

namespace hone {

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
  /// The chosen one whole, beside the model as it is; where a budget is of times.
  std::optional<ModelTimes> timed = {};

  const MeasuredPoint& best() const { return points[chosen]; }
};

/// How far sums over layers were from what whole models did, over the measured points of the front.
struct PredictionCheck {
  std::size_t points = 0;
  double rank_correlation = 0;  ///< Spearman's; NaN where nothing varies
  Interval interval;            ///< 95 %
  double worst_residual = 0;    ///< measured less predicted, where that is farthest from 0
  std::int64_t worst_trial = 0;
};
PredictionCheck check_prediction(const std::vector<MeasuredPoint>& points);

/// Measures the chosen model once on the part that is reported, beside the one it was made of, and writes allocation.csv, the figure, the
/// recipe and the report into the folder, where the model lies in `best`.
AllocateResult report_allocation(const AllocationFindings& findings, const TrialModel& made,
                                 RunReport report, OutputFolder& output, Context& context);

}  // namespace hone
