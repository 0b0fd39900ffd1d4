#pragma once

#include "hone/jobs/pipeline/report_config.h"

namespace hone {

/// Reads the figures of a pipeline: [figure.NAME].
void read_figures(const ReportConfig& f);
/// Reads published numbers, [[published]]. Call after `read_figures`, since they may refer to figures.
void read_published(const ReportConfig& f);

}  // namespace hone
