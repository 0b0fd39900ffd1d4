#include "hone/jobs/allocation/best_allocation.h"

#include <algorithm>

#include "hone/base/error.h"
#include "hone/jobs/allocation/packed_copy.h"
#include "hone/passes/quantize.h"

namespace hone {
namespace {

bool bounds_bytes(const AllocationRequest& request) {
  return std::ranges::find(request.budgets, BudgetQuantity::packed_bytes,
                           &AllocationBudget::quantity) != request.budgets.end();
}

}  // namespace

EncodedSet allocation_sample(const EncodedSet& part, std::int64_t samples, std::uint64_t seed) {
  const std::int64_t all = part.size(), wanted = samples == 0 ? all : samples;
  return select_examples(
      part,
      calibration_rows(all, {.batch_size = 1, .batch_count = std::min(all, wanted), .seed = seed}));
}

AllocationTexts allocation_texts(const EncodedSplits& data, std::int64_t samples,
                                 CalibrationRun calibration, std::uint64_t seed) {
  calibration.seed = seed;
  return {allocation_sample(data.validation, samples, seed), calibration};
}

std::vector<LayerChange> changes_of(const std::vector<LayerOption>& options) {
  std::vector<LayerChange> changes;
  for (const LayerOption& option : options)
    changes.push_back(
        {.label = option.label(), .formats = option.formats, .sparsity = option.sparsity});
  return changes;
}

LayerDivergences measure_layer_divergences(const Model& model,
                                           const std::vector<LayerOption>& options,
                                           const EncodedSet& sample, const EncodedSet& training,
                                           const CalibrationRun& calibration,
                                           const VariantRuns& runs, Context& context) {
  const std::vector<LayerChange> all = changes_of(options);
  std::vector<LayerChange> changes;
  std::ranges::copy_if(all, std::back_inserter(changes), &LayerChange::changes);
  const SensitivityStudy study =
      measure_sensitivity(model, changes, sample, training, calibration, runs, context);
  LayerDivergences layer_divergences;
  for (auto next = study.layers.begin(); next != study.layers.end();) {
    layer_divergences.emplace_back();
    for (const LayerChange& change : all)
      layer_divergences.back().push_back(change.changes() ? (next++)->divergence : Divergence{});
  }
  return layer_divergences;
}

std::vector<std::vector<double>> damages_of(const LayerDivergences& layer_divergences) {
  std::vector<std::vector<double>> damages;
  for (const std::vector<Divergence>& layer : layer_divergences) {
    damages.emplace_back();
    for (const Divergence& one : layer) damages.back().push_back(one.mean);
  }
  return damages;
}

BestAllocation best_allocation(const Model& model, const AllocationRequest& request,
                               const AllocationTexts& texts, const EncodedSet& training,
                               Context& context, LayerDivergences* layer_divergences) {
  LayerCosts costs = layer_costs(unquantized_graph(model), request.options);
  check_request(model, request, costs);
  if (bounds_bytes(request) && prunes(request.options)) {
    EncodedSplits ranges;
    ranges.train = training;
    exclude_zeros(
        costs, request.options,
        stored_bits(model, costs.layers, request.options, ranges, texts.calibration, context));
  }
  LayerDivergences now;
  LayerDivergences& known = layer_divergences == nullptr ? now : *layer_divergences;
  if (known.empty())
    known =
        measure_layer_divergences(model, request.options, texts.sample, training, texts.calibration,
                                  {.batch_size = texts.calibration.batch_size}, context);
  const BudgetedFront solved = solve_allocation(costs, damages_of(known), request.budgets,
                                                tied_layers(costs.layers, request.tied));
  const Allocation best = solved.allocation(solved.best);
  return {.plan = allocated_plan(costs, request.options, best),
          .sparsities = allocated_sparsities(costs, request.options, best),
          .average_bits = costs.average_bits(best),
          .predicted = solved.front.points[solved.best].damage};
}

void check_request(const Model& model, const AllocationRequest& request, const LayerCosts& costs) {
  for (const LayerOption& option : request.options) {
    if (!option.formats) continue;
    Graph graph = forward_graph(model);
    with_context(fmt::format("option {} (for the operands in `operands`)", option.text),
                 [&] { quantize(graph, uniform_plan(graph, *option.formats)); });
  }
  std::vector<AllocationBudget> known = request.budgets;
  const auto unknown = [&](BudgetQuantity quantity) {
    std::erase_if(known,
                  [&](const AllocationBudget& budget) { return budget.quantity == quantity; });
  };
  if (costs.latency_units.empty()) unknown(BudgetQuantity::latency_ms);
  if (prunes(request.options) && !costs.excludes_zeros) unknown(BudgetQuantity::packed_bytes);
  const std::vector<std::vector<double>> harmless(costs.layers.size(),
                                                  std::vector<double>(request.options.size(), 0));
  const auto tied = tied_layers(costs.layers, request.tied);
  if (!known.empty()) solve_allocation(costs, harmless, known, tied);
}

}  // namespace hone
