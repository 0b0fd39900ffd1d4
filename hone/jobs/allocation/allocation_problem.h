#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "hone/ir/graph.h"
#include "hone/jobs/allocation/allocation_latency.h"
#include "hone/jobs/allocation/allocation_options.h"
#include "hone/jobs/recipe.h"
#include "hone/search/allocation.h"

/// The allocation problem in the numbers that the solver takes (hone/search/allocation.h).
namespace hone {

/// The index of an option for each layer.
using Allocation = std::vector<std::size_t>;

/// The cost of each option for each layer.
struct LayerCosts {
  std::vector<std::string> layers;  ///< linears, in the order of the graph
  /// (layers, options): bits of the remaining weights, plus one per block of a pruned layer for their positions.
  std::vector<std::vector<std::int64_t>> weight_bits;
  /// Bits of weights and biases; zeros count until `exclude_zeros`.
  std::vector<std::vector<std::int64_t>> packed_bits;
  std::int64_t weights = 0;     ///< elements of the weights of all layers
  std::int64_t other_bits = 0;  ///< all other parameters, in fp32
  bool excludes_zeros = false;  ///< whether `packed_bits` exclude the zeros of pruned options

  double average_bits(const Allocation& allocation) const;
  std::int64_t packed_bytes(const Allocation& allocation) const;
  /// Returns bits per weight of one layer.
  double average_bits(std::size_t layer, std::size_t option) const;
  /// Returns milliseconds; requires `add_latency`.
  double latency_ms(const Allocation& allocation) const;
  /// Returns the cost of one layer in a quantity: bits or milliseconds.
  double cost(BudgetQuantity quantity, std::size_t layer, std::size_t option) const;
  /// Returns a quantity of a whole allocation, in the unit of its budget.
  double total(BudgetQuantity quantity, const Allocation& allocation) const;

  std::vector<std::int64_t> elements = {};  ///< of the weight of each layer

  // Set by `add_latency`:
  LatencyTable latency = {};
  double unit_ms = 0;                                         ///< unit of the integer latencies
  std::vector<std::vector<std::int64_t>> latency_units = {};  ///< (layers, options), rounded up
  std::int64_t rest_units = 0;                                ///< `latency.rest_ms`, rounded up
};

/// Subtracts from `packed_bits` the zeros that files of packed models leave out. The saving of a pruned option over the
/// same option unpruned is that of `stored`, the (layers, options) from `stored_bits`.
void exclude_zeros(LayerCosts& costs, const std::vector<LayerOption>& options,
                   const std::vector<std::vector<std::int64_t>>& stored);

/// Pieces in a latency budget. Rounding overestimates by less than one piece per layer, and one for the rest.
inline constexpr std::int64_t kLatencyUnits = std::int64_t{1} << 20;

/// Adds latencies to the costs, in pieces of this budget.
void add_latency(LayerCosts& costs, LatencyTable latency, double most_ms);

/// Returns costs without latencies. `graph` must not contain quantizers.
LayerCosts layer_costs(const Graph& graph, const std::vector<LayerOption>& options);

QuantizationPlan allocated_plan(const LayerCosts& costs, const std::vector<LayerOption>& options,
                                const Allocation& allocation);

/// Returns the sparsities of the layers that an allocation prunes.
LayerSparsities allocated_sparsities(const LayerCosts& costs,
                                     const std::vector<LayerOption>& options,
                                     const Allocation& allocation);

/// The front of damage against the quantity of the first budget, among allocations within the other budgets.
struct BudgetedFront {
  BudgetQuantity quantity = BudgetQuantity::average_bits;
  AllocationFront front = {};
  std::size_t best = 0;  ///< the point with the least damage within all budgets
  std::vector<std::vector<std::size_t>> option_indices =
      {};  ///< by layer: our option index of each option of the solver

  Allocation allocation(std::size_t point) const;
  /// Converts the cost of a point to the unit of the budget.
  double value(const LayerCosts& costs, std::int64_t cost) const;
};

/// Solves for the front and its best point. `damages` are (layers, options); NaN or infinity excludes an option for
/// that layer. `tied` lists layers that take the same option. Throws `UserError` for budgets that no allocation meets,
/// with the least that can be met, for a layer without any option, and as `allocation_front` does.
BudgetedFront solve_allocation(const LayerCosts& costs,
                               const std::vector<std::vector<double>>& damages,
                               const std::vector<AllocationBudget>& budgets,
                               const std::vector<std::vector<std::size_t>>& tied);

/// Returns whether an allocation is within all budgets.
bool within(const LayerCosts& costs, const std::vector<AllocationBudget>& budgets,
            const Allocation& allocation);

/// Returns at most `count` points of a front in its order, always with `best`. The first half is spread by cost over
/// the whole front, ends included. The other half is spread over the upper half of the cost range from the cheapest
/// point to `best`.
std::vector<std::size_t> spread_points(const AllocationFront& front, std::size_t best,
                                       std::size_t count);

/// Returns the layers that each glob matches. Throws `UserError` for a glob that matches fewer than two, and for a
/// layer that two globs match.
std::vector<std::vector<std::size_t>> tied_layers(const std::vector<std::string>& layers,
                                                  const std::vector<std::string>& globs);

}  // namespace hone
