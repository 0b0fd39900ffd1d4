#pragma once

#include "hone/jobs/runs.h"
#include "hone/report/figure.h"

namespace hone {

/// The trainings of many runs laid over each other: loss and validation accuracy against epochs, a colour for each run,
/// of repeated jobs for each seed. As many as there are colours; `left_out` counts the others. Without panels when no run
/// was a training.
Figure runs_figure(const Runs& runs, std::size_t& left_out);

}  // namespace hone
