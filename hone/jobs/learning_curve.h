#pragma once

#include <string>
#include <vector>

#include "hone/jobs/job_result.h"
#include "hone/jobs/training_log.h"

namespace hone {

/// Returns a training as a table with a row per step: epoch, loss, learning rate, gradient norm and, for evaluated
/// steps, loss and accuracy with its interval.
Table learning_curve_table(const TrainingLog& log);

/// Writes the table as `stem`.csv and plots training loss and validation accuracy against epochs as `stem`.svg and
/// .png. The validation loss has its own panel if the training loss has more terms. Long trainings are plotted as means
/// of several steps. Returns the report section with the figure, without blocks for fewer than two steps. A single
/// evaluation is not plotted. A figure that cannot be drawn adds a note to `notes`.
Section learning_curve_section(const TrainingLog& log, const std::string& title,
                               const fs::path& stem, std::vector<std::string>& notes);

}  // namespace hone
