#pragma once

#include <vector>

#include "hone/jobs/runs.h"
#include "hone/report/figure.h"

namespace hone {

/// Overlays the training curves of many runs: loss and validation metric against epochs, one colour for each run, or
/// for each seed of a repeated job. Trainings share a figure if they were validated by the same metric on as many
/// examples of the same data; others are not comparable. A figure has at most as many trainings as there are colours;
/// `left_out` counts the others. Empty if no run was a training.
std::vector<Figure> runs_figures(const Runs& runs, std::size_t& left_out);

}  // namespace hone
