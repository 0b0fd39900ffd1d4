#pragma once

#include <string>
#include <vector>

#include "hone/jobs/job_result.h"
#include "hone/jobs/training_log.h"

namespace hone {

/// A training as a table, a row per step: epoch, loss, learning rate and gradient norm, and where it was evaluated loss
/// and accuracy with its interval.
Table learning_curve_table(const TrainingLog& log);

/// Writes the table as `stem`.csv and draws it, loss and validation accuracy against epochs, as `stem`.svg and .png. The validation
/// loss has a panel of its own where the training loss has more terms.
/// Returns the section of a report with the figure, without blocks when there are fewer than two steps: that is no
/// curve, nor is the accuracy of a single evaluation, which has no panel. Of many steps the figure shows means of a few
/// at a time. A figure that could not be drawn is a line of `notes`.
Section learning_curve_section(const TrainingLog& log, const std::string& title,
                               const fs::path& stem, std::vector<std::string>& notes);

}  // namespace hone
