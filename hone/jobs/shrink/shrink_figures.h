#pragma once

#include "hone/jobs/shrink/shrink_findings.h"
#include "hone/report/figure.h"

namespace hone {

/// Plots all candidates: the change of the task's metric against size and against latency, with the Pareto front, the
/// baseline and the chosen candidate. Points are labelled with the number of the candidate.
Figure candidates_figure(const ShrinkFindings& findings);

}  // namespace hone
