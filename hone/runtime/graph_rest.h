#pragma once

#include <string>
#include <vector>

#include "hone/ir/graph.h"
#include "hone/tensor/parameter_store.h"

namespace hone {

/// A graph cut where it becomes another than one that has been run: values that are live across the cut are inputs of the
/// rest. So what a graph and its variants (a layer in a format, a pruned one) have in common is computed once.
///
///     GraphRest rest = rest_of(variant, variant_parameters, base, parameters);
///     const Graph kept = giving(base, rest.shared);                    // the base, for these values alone
///     NamedTensors values = session.executable(kept)->run(batch, parameters);
///     session.executable(rest.graph)->run(values, rest.parameters);    // what the variant gives
struct GraphRest {
  Graph graph;  ///< the outputs of the variant, from the shared values and what it computes itself
  ParameterStore parameters;  ///< those that it reads
  std::vector<std::string>
      shared;  ///< the values of the base that it takes as inputs, by `value_name`
};

/// The name of a value; of a first result that of its node.
std::string value_name(const Value& value);

/// What `variant` computes otherwise than `base`. A value is the same in both where nodes of one name have the same operation,
/// attributes and types and read the same values; parameters are the same where their bytes are. What is not seen to be the
/// same is in the rest, so that it gives the bits of the whole variant, whatever was changed. Both are inference graphs.
GraphRest rest_of(const Graph& variant, const ParameterStore& variant_parameters, const Graph& base,
                  const ParameterStore& base_parameters);

/// The graph for these values alone, called as in `value_name`; they must be there.
Graph giving(const Graph& graph, const std::vector<std::string>& values);

}  // namespace hone
