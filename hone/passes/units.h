#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/fields.h"
#include "hone/ir/graph.h"
#include "hone/tensor/parameter_store.h"

/// What goes as a whole, so that shapes shrink: a head of an attention, or a neuron between two linears. A unit is so many rows
/// of the linears that make it, and so many columns of the one that reads it.
namespace hone {

enum class UnitKind { heads, neurons };
inline constexpr UnitKind kUnitKinds[] = {UnitKind::heads, UnitKind::neurons};
std::string_view to_string(UnitKind kind);

/// Units that stand side by side: the heads of one attention, or the neurons of one feed-forward.
struct UnitGroup {
  UnitKind kind;
  std::int64_t count = 0;          ///< units
  std::int64_t width = 1;          ///< rows and columns of a unit: D of a head, 1 of a neuron
  std::vector<Node*> makers = {};  ///< linears: query, key, value; or W_1
  Node* reader = nullptr;          ///< linear: W_o; or W_2
  /// An extent of a shape among the attributes of what stands between them.
  struct Extent {
    Node* node;
    std::string attribute;
    std::size_t axis;
    bool elements;  ///< it counts elements of all units, not units
  };
  std::vector<Extent> extents = {};
};

/// The groups of a kind, in the graph's order. Heads: what is softened scores times values, whose query, key and value are of
/// linears split alike, joined for one linear. Neurons: what a linear makes and one alone reads, element by element between
/// them, where the result is added to what the first one read.
/// Throws `UserError`, saying which and what to do, for a linear whose weight or bias is no parameter of its own.
std::vector<UnitGroup> unit_groups(const Graph& graph, UnitKind kind);

/// For each group, the units that stay, in order; at least one.
using KeptUnits = std::vector<std::vector<std::int64_t>>;

/// Lets all other units go, of parameters too. `groups` are of this graph, which is another afterwards. Returns whether
/// anything went.
bool keep_units(Graph& graph, ParameterStore& parameters, const std::vector<UnitGroup>& groups,
                const KeptUnits& kept);

/// How important units are by their weights alone: `power` 1 the sum of magnitudes, 2 the Euclidean norm of all rows and
/// columns that are theirs; biases aside. In double, in order.
std::vector<double> unit_magnitudes(const UnitGroup& group, const ParameterStore& parameters,
                                    int power);

/// Whose scores are laid beside each other.
enum class UnitScope {
  local,  ///< those of a group: all lose the same share
  global  ///< those of all groups
};
std::span<const EnumWord> enum_words(UnitScope);

/// Keeps all but the share `sparsity` in [0, 1) of least score, to the nearest number, of equal ones the first; of each group
/// one stays at least. Throws `UserError` for another share.
KeptUnits choose_units(const std::vector<std::vector<double>>& scores, double sparsity,
                       UnitScope scope);

}  // namespace hone
