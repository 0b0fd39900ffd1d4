#pragma once

#include "hone/jobs/pipeline/pipeline_figures.h"
#include "hone/report/table.h"

namespace hone {

/// What a stage has found at a path into its results or, with "log.highest." and "log.last.", in the log of its training; "tally.PATH"
/// counts the texts there. Absent: nothing.
Cell stage_cell(std::size_t stage, const std::string& path, const PipelineFindings& found);
/// The same as a number with what is known of its uncertainty; NaN: it is none.
Estimate estimate_in(std::size_t stage, const std::string& path, const PipelineFindings& found);

/// Returns the table with a row for each stage, each value of a variable, or each member of what the stages have found, in their
/// order. Several stages in one row are their mean, with the lowest, the highest and how many they are; several counts of trials
/// stay apart.
Table pipeline_table(const PipelineTable& described, const PipelineFindings& findings);

}  // namespace hone
