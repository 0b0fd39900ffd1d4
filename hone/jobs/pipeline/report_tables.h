#pragma once

#include "hone/jobs/pipeline/report_config.h"

namespace hone {

/// Reads the tables of a pipeline: [table.NAME].
void read_tables(const ReportConfig& f);

}  // namespace hone
