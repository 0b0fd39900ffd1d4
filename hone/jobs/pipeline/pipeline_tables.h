#pragma once

#include "hone/jobs/pipeline/pipeline_figures.h"
#include "hone/report/table.h"

namespace hone {

/// Returns the table with a row for each stage, each value of a variable, or each member in the results, in their
/// order. Several stages in one row show their mean, with the lowest, the highest and their number; counts of trials
/// are listed separately.
Table pipeline_table(const PipelineTable& described, const PipelineFindings& findings);

}  // namespace hone
