#pragma once

#include <string>
#include <vector>

#include "hone/app/run_report.h"

namespace hone {

/// The lines of a training log as a table: step, epoch, loss, learning rate and gradient norm of logging steps, loss
/// and accuracy with its interval of evaluations.
Table learning_curve_table(const std::vector<Json>& lines);

/// Writes the table as `stem`.csv and draws it, loss and validation accuracy against epochs, as `stem`.svg and .png.
/// Returns the section of a report with the figure, without blocks when fewer than two lines have a loss: that is no
/// curve. A figure that could not be drawn is a line of `notes`.
Section learning_curve_section(const std::vector<Json>& lines, const std::string& title,
                               const fs::path& stem, std::vector<std::string>& notes);

}  // namespace hone
