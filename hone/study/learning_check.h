#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hone/metrics/task_evaluation.h"
#include "hone/study/result.h"
#include "hone/train/trainer.h"

namespace hone {

/// Returns signs that the model learned nothing in training, a sentence each; empty if there are none.
///
/// - The metric of the task on the split `split` is not shown to be above that of a constant prediction
///   (`constant_baseline_text`): the lower end of its interval does not exceed it.
/// - The training loss did not fall: its mean over the last tenth of the steps (at least five) is not below that over
///   as many first steps. Trainings of fewer than ten steps are not judged.
///
/// Each sentence includes `guessed` (`DataSet::guessed`) if there is one: a model learns nothing from the wrong
/// columns.
std::vector<std::string> signs_of_no_learning(const std::vector<StepRecord>& steps,
                                              const std::string& split,
                                              const TaskEvaluation& evaluation,
                                              const std::vector<std::string>& labels,
                                              const std::string& guessed = {});

/// Returns whether the mean loss over the last tenth of the steps (at least five) is below that over as many first
/// steps; none for fewer than ten steps.
std::optional<bool> loss_fell(const std::vector<StepRecord>& steps);

/// The same over the seeds of a repeated training with the metrics `metrics` in its results: a sentence for all seeds
/// with the same sign.
std::vector<std::string> signs_of_no_learning(const std::vector<Json>& results,
                                              const MetricsKey& metrics,
                                              const std::string& guessed = {});

}  // namespace hone
