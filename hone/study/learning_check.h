#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hone/metrics/task_evaluation.h"
#include "hone/study/result.h"
#include "hone/train/trainer.h"

namespace hone {

/// Signs that a training taught the model nothing, a sentence each; empty when all looks well.
///
/// - The metric of the task on the split `part` is not shown to be above that of a constant prediction (`baseline_text`): the lower
///   end of its interval does not exceed it.
/// - The training loss did not fall: its mean over the last tenth of the steps (five at least) is not below that over as many first
///   steps. Trainings of fewer than ten steps are not judged.
///
/// Each names `guessed` (`DataSet::guessed`) if there is one: from the wrong columns a model learns nothing.
std::vector<std::string> signs_of_no_learning(const std::vector<StepRecord>& steps,
                                              const std::string& part,
                                              const TaskEvaluation& evaluation,
                                              const std::vector<std::string>& labels,
                                              const std::string& guessed = {});

/// Whether the mean loss over the last tenth of the steps (five at least) is below that over the first; nothing under ten steps.
std::optional<bool> loss_fell(const std::vector<StepRecord>& steps);

/// The same signs over the seeds of a repeated training, whose results measured `figures`, a sentence for all seeds that
/// show them.
std::vector<std::string> signs_of_no_learning(const std::vector<Json>& results,
                                              const NamedFigures& figures,
                                              const std::string& guessed = {});

}  // namespace hone
