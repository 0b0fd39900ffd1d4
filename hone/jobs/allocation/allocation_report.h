#pragma once

#include "hone/base/output_folder.h"
#include "hone/jobs/allocation/allocation_sentences.h"

namespace hone {

/// Measures the chosen model once on the part that is reported, beside the one it was made of, and writes allocation.csv, the figure, the
/// recipe and the report into the folder, where the model lies in `best`.
AllocateResult report_allocation(const AllocationFindings& findings, const TrialModel& made,
                                 RunReport report, OutputFolder& output, Context& context);

}  // namespace hone
