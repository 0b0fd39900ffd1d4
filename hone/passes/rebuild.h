#pragma once

#include <functional>
#include <map>
#include <string>

#include "hone/ir/graph.h"

namespace hone {

/// What is other in a graph that is built anew. Changes of several types that only fit each other cannot be made one after the
/// other.
struct GraphChanges {
  std::map<std::string, Type> types = {};             ///< of parameters
  std::map<std::string, Attributes> attributes = {};  ///< of operations: all of them
  /// What a node is called, by what it was called. Null: as before.
  std::function<std::string(const std::string&)> rename = {};
};

/// The same graph with these changes, of which the types of all values follow. An operation whose random stream is that of its
/// name has that of its new one. Throws `UserError`, naming the node, where inputs do not fit.
Graph rebuilt(const Graph& graph, const GraphChanges& changes);

}  // namespace hone
