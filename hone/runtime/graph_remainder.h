#pragma once

#include <string>
#include <vector>

#include "hone/ir/graph.h"
#include "hone/tensor/parameter_store.h"

namespace hone {

/// The part of a graph that differs from one that has already run. Values live across the cut are inputs of the rest.
/// So computation common to a graph and its variants (a layer in another format, a pruned one) happens once.
///
///     GraphRest rest = rest_of(variant, variant_parameters, base, parameters);
///     const Graph kept = graph_of_values(base, rest.shared);                    // the base, for these values alone
///     NamedTensors values = session.executable(kept)->run(batch, parameters);
///     session.executable(rest.graph)->run(values, rest.parameters);    // the outputs of the variant
struct GraphRest {
  Graph graph;                ///< computes the outputs of the variant from shared values
  ParameterStore parameters;  ///< the parameters that `graph` reads
  std::vector<std::string>
      shared;  ///< values of the base that `graph` takes as inputs, by `value_name`
};

/// Returns the name of a value; for a node's first result, the name of the node.
std::string value_name(const Value& value);

/// Returns the part of `variant` that differs from `base`. A value is the same in both if nodes of one name have the
/// same operation, attributes and types and read the same values; parameters are the same if their bytes are.
/// Everything not proven the same belongs to the rest, so its outputs are bit-identical to those of the whole
/// variant, whatever was changed. Both are inference graphs.
GraphRest rest_of(const Graph& variant, const ParameterStore& variant_parameters, const Graph& base,
                  const ParameterStore& base_parameters);

/// Returns the graph that computes only these values, named as by `value_name`; they must exist.
Graph graph_of_values(const Graph& graph, const std::vector<std::string>& values);

}  // namespace hone
