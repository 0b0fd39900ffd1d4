#pragma once

#include "hone/base/output_folder.h"
#include "hone/jobs/shrink/shrink_findings.h"

namespace hone {

/// Writes the chosen model to `output`/model, or to `output`/unproven if it was not shown to be within the limit.
/// Measures it once on the reported split against the original, and writes page, tables and figures. Writes no model
/// if nothing became smaller.
JobResult report_shrink(const ShrinkFindings& findings, const TextModel& made, JobResult result,
                        OutputFolder& output, Context& context);

}  // namespace hone
