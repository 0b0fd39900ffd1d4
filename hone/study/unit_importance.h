#pragma once

#include <map>
#include <string>
#include <vector>

#include "hone/frontends/huggingface/model.h"
#include "hone/passes/units.h"
#include "hone/train/calibration.h"

namespace hone {

/// Returns the importance of units to the loss, by the name of the linear that reads them: the mean over batches of
/// |d loss / d g|. g is a gate that multiplies the unit; its gradient is the sum of w times its gradient over the
/// columns that read the unit (Michel, Levy and Neubig, "Are Sixteen Heads Really Better than One?", arXiv 1905.10650,
/// section 4; Molchanov et al., arXiv 1906.10771). The importances of a group are divided by their Euclidean norm, so
/// that groups can be compared.
///
/// Uses the `calibration_rows` of `data`, with labels and without dropout. Results depend only on the model, the texts
/// and the run. Throws `UserError` without texts, and if the loss has no gradient.
std::map<std::string, std::vector<double>> unit_importance(const Model& model,
                                                           const std::vector<UnitGroup>& groups,
                                                           const ExampleSource& data,
                                                           const CalibrationRun& run,
                                                           const Session& session);

}  // namespace hone
