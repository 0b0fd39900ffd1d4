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

/// Formats for the linears of a model within a budget, as the numbers that the solver takes (hone/search/allocation.h).
namespace hone {

/// An option for each layer, by its number.
using Allocation = std::vector<std::size_t>;

/// What layers take in each option, in bits.
struct LayerCosts {
  std::vector<std::string> layers;  ///< linears, in the order of the graph
  /// (layers, options): of the weights that stay; where some go, a bit for each that tells which.
  std::vector<std::vector<std::int64_t>> weight_bits;
  /// Of weights and biases, with all zeros until `leave_out_zeros`.
  std::vector<std::vector<std::int64_t>> packed_bits;
  std::int64_t weights = 0;       ///< elements of the weights of all layers
  std::int64_t other_bits = 0;    ///< of all other parameters, in fp32
  bool leaves_out_zeros = false;  ///< packed ones, of pruned options

  double average_bits(const Allocation& allocation) const;
  std::int64_t packed_bytes(const Allocation& allocation) const;
  /// Of one layer.
  double average_bits(std::size_t layer, std::size_t option) const;
  /// Milliseconds, of costs with times.
  double latency_ms(const Allocation& allocation) const;
  /// What one layer costs in a figure: bits, or milliseconds.
  double cost(BudgetFigure figure, std::size_t layer, std::size_t option) const;
  /// A figure of an allocation.
  double figure(BudgetFigure figure, const Allocation& allocation) const;

  std::vector<std::int64_t> elements = {};  ///< of the weight of each layer

  // Of costs with times:
  LatencyTable latency = {};
  double piece_ms = 0;                                         ///< that times are counted in
  std::vector<std::vector<std::int64_t>> latency_pieces = {};  ///< (layers, options), rounded up
  std::int64_t rest_pieces = 0;                                ///< of the rest, rounded up
};

/// Takes the zeros that files of packed models leave out off `packed_bits`: an option that prunes takes as much less than the same one
/// that does not as `stored`, (layers, options) of `stored_bits`, says.
void leave_out_zeros(LayerCosts& costs, const std::vector<LayerOption>& options,
                     const std::vector<std::vector<std::int64_t>>& stored);

/// So many pieces make a budget of milliseconds: what an allocation takes is counted too high by less than one piece for each layer and
/// one for the rest.
inline constexpr std::int64_t kLatencyPieces = std::int64_t{1} << 20;

/// Puts times beside the other costs, in pieces of this budget.
void take_latency(LayerCosts& costs, LatencyTable latency, double most_ms);

/// `graph` is without quantizers.
LayerCosts layer_costs(const Graph& graph, const std::vector<LayerOption>& options);

/// The formats of an allocation.
QuantizationPlan allocated_plan(const LayerCosts& costs, const std::vector<LayerOption>& options,
                                const Allocation& allocation);

/// The sparsities of an allocation, of layers that have one.
LayerSparsities allocated_sparsities(const LayerCosts& costs,
                                     const std::vector<LayerOption>& options,
                                     const Allocation& allocation);

/// The front of damage against the figure of the first budget, among allocations within the others.
struct BudgetedFront {
  BudgetFigure figure = BudgetFigure::average_bits;
  AllocationFront front = {};
  std::size_t best = 0;  ///< the point of least damage within all budgets
  std::vector<std::vector<std::size_t>> numbers =
      {};  ///< of what the solver calls options, by layer

  Allocation allocation(std::size_t point) const;
  /// The figure of a point's cost.
  double value(const LayerCosts& costs, std::int64_t cost) const;
};

/// `damages` are (layers, options); an option whose damage is no number is not there for that layer. `tied`: lists of layers that take
/// the same option. Throws `UserError` for budgets that nothing meets, naming the least that could be met, a layer without any
/// option, and as `allocation_front`.
BudgetedFront solve_allocation(const LayerCosts& costs,
                               const std::vector<std::vector<double>>& damages,
                               const std::vector<AllocationBudget>& budgets,
                               const std::vector<std::vector<std::size_t>>& tied);

/// Whether an allocation is within all budgets.
bool within(const LayerCosts& costs, const std::vector<AllocationBudget>& budgets,
            const Allocation& allocation);

/// So many points of a front, or all: one half spread over all of it, both ends included, the other over the upper half of the way from the
/// cheapest to the best within the budget, which is the last of them. In the order of the front.
std::vector<std::size_t> spread_points(const AllocationFront& front, std::size_t best,
                                       std::size_t count);

/// The layers that each glob names, lists of at least two. Throws `UserError` for a glob that names fewer.
std::vector<std::vector<std::size_t>> tied_layers(const std::vector<std::string>& layers,
                                                  const std::vector<std::string>& globs);

}  // namespace hone
