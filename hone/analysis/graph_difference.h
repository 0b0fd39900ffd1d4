#pragma once

#include <string>
#include <vector>

#include "hone/base/fields.h"
#include "hone/ir/graph.h"
#include "hone/tensor/parameter_store.h"

/// Comparison of two graphs, or of the parameters of two models.
namespace hone {

enum class DifferenceKind { only_in_first, only_in_second, changed };
std::span<const EnumName> enum_names(DifferenceKind);
/// "only in A", "only in B", "changed"
std::string to_string(DifferenceKind kind);

/// A node without a counterpart in the other graph, or with a different one.
struct NodeDifference {
  DifferenceKind kind = DifferenceKind::changed;
  std::string name = {};         ///< in the first graph, or in the second if it is only there
  std::string second_name = {};  ///< in the second graph; empty if it is not there
  std::string what = {};         ///< "input", "parameter", "output", or the operation
  std::string detail = {};       ///< of a changed node: "format int(bits=8) -> int(bits=4)"
};

struct GraphDifference {
  std::vector<NodeDifference> differences;  ///< in the order of the first graph, then of the second
  std::int64_t equal_operations = 0;

  bool empty() const { return differences.empty(); }
  /// Returns the number of differences of this kind among operations.
  std::int64_t count(DifferenceKind kind) const;
};

/// Compares graphs node by node. Nodes match if they have the same name and operation. Remaining nodes match if they
/// have the same operation, attributes and types and read matching nodes, so that renaming is not a difference.
/// Matching nodes with other attributes, types or inputs are changed.
GraphDifference difference(const Graph& first, const Graph& second);

/// A parameter with the same shape but different values in both models.
struct ParameterDifference {
  std::string name;
  std::int64_t elements = 0;
  std::int64_t differing = 0;  ///< elements whose bits differ
  double largest = 0;          ///< absolute difference
};
const Fields& fields_of(const ParameterDifference*);

struct ParameterDifferences {
  std::int64_t compared = 0;  ///< parameters that both have with the same shape
  std::vector<ParameterDifference> differing = {};
};

/// Compares the values of parameters with the same name and shape. Packed parameters are unpacked.
ParameterDifferences difference(const ParameterStore& first, const ParameterStore& second);

}  // namespace hone
