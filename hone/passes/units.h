#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/fields.h"
#include "hone/ir/graph.h"
#include "hone/tensor/parameter_store.h"

/// Units that can be removed as a whole, which shrinks shapes: a head of an attention, or a neuron between two
/// linears. A unit consists of rows of the linears that compute it, and columns of the linear that reads it.
namespace hone {

enum class UnitKind { heads, neurons };
inline constexpr UnitKind kUnitKinds[] = {UnitKind::heads, UnitKind::neurons};
std::string_view to_string(UnitKind kind);

/// Parallel units: the heads of one attention, or the neurons of one feed-forward block.
struct UnitGroup {
  UnitKind kind;
  std::int64_t count = 0;          ///< number of units
  std::int64_t width = 1;          ///< rows and columns per unit: D for a head, 1 for a neuron
  std::vector<Node*> makers = {};  ///< linears: query, key, value; or W_1
  Node* reader = nullptr;          ///< linear: W_o; or W_2
  /// An extent in a shape attribute of an operation between them.
  struct Extent {
    Node* node;
    std::string attribute;
    std::size_t axis;
    bool elements;  ///< it counts elements of all units, not units
  };
  std::vector<Extent> extents = {};
};

/// Returns the groups of a kind, in the graph's order. Heads: softmax scores times values, where linears compute
/// query, key and value, split into the same heads, and the result is joined for one linear. Neurons: the output of a
/// linear that only one other linear reads, with element-wise operations between them, if the result is added to the
/// input of the first. Throws `UserError`, saying which and what to do, for a linear whose weight or bias is no
/// parameter of its own.
std::vector<UnitGroup> unit_groups(const Graph& graph, UnitKind kind);

/// For each group, the units to keep, in order; at least one.
using KeptUnits = std::vector<std::vector<std::int64_t>>;

/// Removes all other units, including those of parameters. `groups` refer to this graph, which is replaced. Returns
/// whether anything was removed.
bool keep_units(Graph& graph, ParameterStore& parameters, const std::vector<UnitGroup>& groups,
                const KeptUnits& kept);

/// Returns the importance of units by their weights: with `power` 1 the sum of magnitudes, with 2 the Euclidean norm,
/// over all rows and columns of a unit, without biases. Computed in double, in order.
std::vector<double> unit_magnitudes(const UnitGroup& group, const ParameterStore& parameters,
                                    int power);

/// Set of units whose scores are compared.
enum class UnitScope {
  local,  ///< within a group: all groups lose the same share
  global  ///< across all groups
};
std::span<const EnumName> enum_names(UnitScope);

/// Removes the share `sparsity` in [0, 1) of units with the lowest scores, rounded to the nearest number, the first
/// ones among equals; keeps at least one per group. Throws `UserError` for any other share.
KeptUnits choose_units(const std::vector<std::vector<double>>& scores, double sparsity,
                       UnitScope scope);

}  // namespace hone
