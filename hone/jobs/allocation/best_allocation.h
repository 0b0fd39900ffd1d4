#pragma once

#include <vector>

#include "hone/jobs/allocation/allocation_problem.h"
#include "hone/study/layer_sensitivity.h"

/// The divergence of each option on each single layer, and the allocation with the smallest sum.
namespace hone {

using LayerDivergences = std::vector<std::vector<Divergence>>;  ///< (layers, options)

/// Returns `samples` random texts of a split; 0: all.
EncodedSet allocation_sample(const EncodedSet& part, std::int64_t samples, std::uint64_t seed);

/// Texts for measuring options on single layers.
struct AllocationTexts {
  EncodedSet sample;           ///< texts whose predictions are compared
  CalibrationRun calibration;  ///< selects the training texts that calibrate the formats
};
/// Returns a random sample of the validation split, and a calibration that draws its texts with the same seed.
AllocationTexts allocation_texts(const EncodedSplits& data, std::int64_t samples,
                                 CalibrationRun calibration, std::uint64_t seed);

/// Converts options to the changes that `measure_sensitivity` takes.
std::vector<LayerChange> changes_of(const std::vector<LayerOption>& options);

/// Measures the divergence of the predictions on `sample`. Formats that need ranges are calibrated on `training`.
LayerDivergences measure_layer_divergences(const Model& model,
                                           const std::vector<LayerOption>& options,
                                           const EncodedSet& sample, const EncodedSet& training,
                                           const CalibrationRun& calibration,
                                           const VariantRuns& runs, Context& context);

/// Returns the means, for `solve_allocation`.
std::vector<std::vector<double>> damages_of(const LayerDivergences& layer_divergences);

/// An allocation as formats and sparsities by layer, and its cost.
struct BestAllocation {
  QuantizationPlan plan;
  LayerSparsities sparsities;
  double average_bits = 32;
  double predicted = 0;  ///< sum of the divergences of single layers
};

/// Returns the allocation within the budgets whose sum of divergences is the smallest, exactly. Deterministic for the
/// same model, request and texts. `layer_divergences`, if given, holds the divergences for this model and these texts;
/// an empty one is measured and filled. Throws `UserError` for an option that a layer cannot take, and as
/// `solve_allocation` and `tied_layers` do.
BestAllocation best_allocation(const Model& model, const AllocationRequest& request,
                               const AllocationTexts& texts, const EncodedSet& training,
                               Context& context, LayerDivergences* layer_divergences = nullptr);

/// Throws `UserError` for an option that some layer cannot take, and for budgets that no allocation meets. Latency
/// budgets, and byte budgets of pruned options, are checked only once `costs` contain them.
void check_request(const Model& model, const AllocationRequest& request, const LayerCosts& costs);

}  // namespace hone
