#pragma once

#include "hone/jobs/pipeline/pipeline_figures.h"
#include "hone/report/table.h"

namespace hone {

/// Returns the table with a row for each stage, each value of a variable, or each member of what the stages have found, in their
/// order. Several stages in one row are their mean, with the lowest, the highest and how many they are; several counts of trials
/// stay apart.
Table pipeline_table(const PipelineTable& described, const PipelineFindings& findings);

}  // namespace hone
