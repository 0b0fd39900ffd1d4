#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hone/metrics/task_evaluation.h"
#include "hone/study/result.h"
#include "hone/train/trainer.h"

namespace hone {

/// Signs that a training is done and has taught nothing, a sentence each. None when all looks well.
///
/// - The figure of what was measured, called `part`, by which its task is judged, is not shown to be above that of who looks
///   at no text (`baseline_text`): the lower end of the interval does not exceed it.
/// - The training loss did not fall: its mean over the last tenth of the steps, five at least, is not below that over as many first ones;
///   told from ten steps on.
///
/// Each names `guessed` (`DataSet::guessed`) if there is one: columns that were chosen wrongly teach nothing.
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
