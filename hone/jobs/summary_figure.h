#pragma once

#include "hone/jobs/model_times.h"
#include "hone/metrics/task_evaluation.h"
#include "hone/models/model_size.h"
#include "hone/report/figure.h"

namespace hone {

/// Plots size, latency and the task's metric of the baseline and of the compressed model: three panels with two bars
/// each and their values.
Figure summary_figure(const ModelSize& size_before, const ModelSize& size, const ModelTimes& times,
                      const TaskEvaluation& before, const TaskEvaluation& after);

}  // namespace hone
