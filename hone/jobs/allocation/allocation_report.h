#pragma once

#include "hone/base/output_folder.h"
#include "hone/jobs/allocation/allocation_sentences.h"

namespace hone {

/// Evaluates the chosen model once on the reported split, against its baseline, and writes allocation.csv, the figure, the recipe and
/// the report into the folder, whose `best` contains the model. `document` has the title and notes.
JobResult report_allocation(const AllocationFindings& findings, const TrialModel& made,
                            Document document, OutputFolder& output, Context& context);

}  // namespace hone
