#pragma once

#include <string>
#include <vector>

#include "hone/jobs/shrink/shrink_models.h"
#include "hone/report/table.h"

/// The tables of shrink reports.
namespace hone {

/// Returns the key figures as rows, with two columns for each model. `models` must not be empty.
Table before_and_after_table(const std::vector<ShrunkModel>& models);

/// Returns bytes in memory, and of whole files including tensor names and offsets, in the same columns.
Table other_sizes_table(const std::vector<ShrunkModel>& models);

/// Returns all candidates with measured values, and predicted ones in brackets, for a page.
Table candidate_table(const ShrinkFindings& findings);
/// Returns the same in fewer columns, for a terminal.
Table brief_candidate_table(const ShrinkFindings& findings);

/// Returns the formats of each layer; no rows if the model is not quantized.
Table layer_format_table(const Model& model);

}  // namespace hone
