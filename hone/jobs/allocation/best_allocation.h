#pragma once

#include <vector>

#include "hone/jobs/allocation/allocation_problem.h"
#include "hone/study/layer_sensitivity.h"

/// What each option does to each layer of a model alone, and the allocation that is best by their sums.
namespace hone {

using AloneDivergences = std::vector<std::vector<Divergence>>;  ///< (layers, options)

/// So many texts of a part, drawn by the seed; 0: all.
EncodedSet allocation_sample(const EncodedSet& part, std::int64_t samples, std::uint64_t seed);

/// What tells what options do to layers alone.
struct AllocationTexts {
  EncodedSet sample;           ///< whose answers are compared
  CalibrationRun calibration;  ///< which texts of the training part formats take ranges from
};
/// The usual ones: a sample of the validation part, and ranges from texts that the seed draws.
AllocationTexts allocation_texts(const EncodedSplits& data, std::int64_t samples,
                                 CalibrationRun calibration, std::uint64_t seed);

/// What the solver takes for changes of layers.
std::vector<LayerChange> changes_of(const std::vector<LayerOption>& options);

/// Of the answers on `sample`; formats that want ranges take them from `training`.
AloneDivergences measure_alone(const Model& model, const std::vector<LayerOption>& options,
                               const EncodedSet& sample, const EncodedSet& training,
                               const CalibrationRun& calibration, const VariantRuns& runs,
                               Context& context);

/// Their means, as `solve_allocation` takes them.
std::vector<std::vector<double>> damages_of(const AloneDivergences& alone);

/// An allocation as formats and sparsities by layer, and what it costs.
struct BestAllocation {
  QuantizationPlan plan;
  LayerSparsities sparsities;
  double average_bits = 32;
  double predicted = 0;  ///< the sum of what layers do alone
};

/// The exact best by sums for this model, within the budgets. The same model, request and texts give the same. `alone`, where given, is what
/// the options do alone to this model on these texts: measured and kept there where it is empty. Throws `UserError` as `solve_allocation` and
/// `tied_layers` do, and for an option that a layer cannot take.
BestAllocation best_allocation(const Model& model, const AllocationRequest& request,
                               const AllocationTexts& texts, const EncodedSet& training,
                               Context& context, AloneDivergences* alone = nullptr);

/// Throws `UserError` for an option that some layer cannot take, and budgets that nothing meets. Budgets of times and of bytes without
/// zeros are looked at once `costs` have these.
void check_request(const Model& model, const AllocationRequest& request, const LayerCosts& costs);

}  // namespace hone
