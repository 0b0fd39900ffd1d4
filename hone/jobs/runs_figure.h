#pragma once

#include <vector>

#include "hone/jobs/runs.h"
#include "hone/report/figure.h"

namespace hone {

/// The trainings of many runs laid over each other: loss and validation metric against epochs, a colour for each run, of repeated
/// jobs for each seed. Trainings that were validated by the same metric on as many examples of the same data share a figure;
/// others cannot be compared. A figure has as many trainings as there are colours; `left_out` counts the others. Empty when no run
/// was a training.
std::vector<Figure> runs_figures(const Runs& runs, std::size_t& left_out);

}  // namespace hone
