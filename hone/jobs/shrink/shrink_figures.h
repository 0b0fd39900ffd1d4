#pragma once

#include "hone/jobs/shrink/shrink_findings.h"
#include "hone/report/figure.h"

namespace hone {

/// All points that were made: the figure the task is judged by against the bytes and against the time of a text, with the front of those
/// that no other one beats in both, the model as it was given, and what was chosen. Points say which step they were.
Figure tried_figure(const ShrinkFindings& findings);

}  // namespace hone
