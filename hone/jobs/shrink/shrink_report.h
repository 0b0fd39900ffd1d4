#pragma once

#include "hone/base/output_folder.h"
#include "hone/jobs/shrink/shrink_findings.h"

namespace hone {

/// Writes what was chosen to `output`/model, or where it was not shown to be kept to `output`/unproven, measures it once on the part that
/// is reported, beside the original, and writes page, tables and figures. Where nothing is smaller no model is written.
JobResult report_shrink(const ShrinkFindings& findings, const TextModel& made, JobResult result,
                        OutputFolder& output, Context& context);

}  // namespace hone
