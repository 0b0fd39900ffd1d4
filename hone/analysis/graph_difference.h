#pragma once

#include <string>
#include <vector>

#include "hone/base/fields.h"
#include "hone/ir/graph.h"
#include "hone/tensor/parameter_store.h"

/// What two graphs, or the parameters of two models, have in common, and what not.
namespace hone {

enum class DifferenceKind { only_in_first, only_in_second, changed };
std::span<const EnumWord> enum_words(DifferenceKind);
/// "only in A", "only in B", "changed"
std::string to_string(DifferenceKind kind);

/// A node that has no like in the other graph, or one that is another.
struct NodeDifference {
  DifferenceKind kind = DifferenceKind::changed;
  std::string name = {};         ///< in the first graph where it is there
  std::string second_name = {};  ///< in the second; empty: it is not there
  std::string what = {};         ///< "input", "parameter", "output", or the operation
  std::string detail = {};       ///< of a changed one: "format int(bits=8) -> int(bits=4)"
};

struct GraphDifference {
  std::vector<NodeDifference> differences;  ///< in the order of the first graph, then of the second
  std::int64_t equal_operations = 0;

  bool empty() const { return differences.empty(); }
  /// Of operations.
  std::int64_t count(DifferenceKind kind) const;
};

/// Compares graphs node by node. Nodes are alike that have one name and are of one operation; of the others those of one
/// operation, attributes and types that read the like, so that a node that was only renamed is no difference. What is alike
/// and has other attributes, types or inputs is changed.
GraphDifference difference(const Graph& first, const Graph& second);

/// A parameter that both models have with one shape, and other values.
struct ParameterDifference {
  std::string name;
  std::int64_t elements = 0;
  std::int64_t differing = 0;  ///< elements of other values; NaNs are values of their own
  double largest = 0;          ///< of the absolute differences
};
const Fields& fields_of(const ParameterDifference*);

struct ParameterDifferences {
  std::int64_t compared = 0;  ///< parameters that both have with one shape
  std::vector<ParameterDifference> differing = {};
};

/// Compares the values of parameters of one name and shape, packed ones by the values that they stand for.
ParameterDifferences difference(const ParameterStore& first, const ParameterStore& second);

}  // namespace hone
