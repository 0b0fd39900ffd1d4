#pragma once

#include "hone/jobs/pipeline/pipeline_figures.h"
#include "hone/report/table.h"

namespace hone {

/// The table with a row for each stage, each value of a variable, or each member of what the stages have found, in their order. Several
/// stages in one row are told as their mean, with the lowest, the highest and how many they are; several counts of trials one by one.
Table pipeline_table(const PipelineTable& told, const PipelineFindings& findings);

}  // namespace hone
