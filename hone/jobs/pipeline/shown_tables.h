#pragma once

#include "hone/jobs/pipeline/shown_file.h"

namespace hone {

/// Reads the tables of a pipeline: [table.NAME].
void read_tables(const ReportConfig& f);

}  // namespace hone
