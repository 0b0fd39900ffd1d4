#pragma once

#include <string>
#include <vector>

#include "hone/jobs/shrink/shrink_models.h"
#include "hone/report/table.h"

/// The tables that a report of shrinking shows to people.
namespace hone {

/// What a person asks first, a row each; two columns for each model, of which there is one at least.
Table before_and_after_table(const std::vector<ShrunkModel>& models);

/// Bytes in memory and of the files as they are, names and places included; the same columns.
Table other_sizes_table(const std::vector<ShrunkModel>& models);

/// Every candidate, what was measured and in brackets what was predicted: for a page.
Table candidate_table(const ShrinkFindings& findings);
/// The same in fewer columns, for a screen.
Table brief_candidate_table(const ShrinkFindings& findings);

/// The formats of each layer; no rows where the model is not quantized.
Table layer_format_table(const Model& model);

}  // namespace hone
