#pragma once

#include <functional>
#include <map>
#include <string>

#include "hone/ir/graph.h"

namespace hone {

/// Changes for rebuilding a graph. Type changes that depend on each other cannot be made one at a time.
struct GraphChanges {
  std::map<std::string, Type> types = {};             ///< of parameters
  std::map<std::string, Attributes> attributes = {};  ///< of operations, complete
  /// Returns the new name of a node. Null: names stay.
  std::function<std::string(const std::string&)> rename = {};
};

/// Returns the graph with these changes; the types of all values are inferred again. An operation whose random stream
/// belongs to its name gets that of its new name. Throws `UserError`, naming the node, if inputs do not fit.
Graph rebuilt(const Graph& graph, const GraphChanges& changes);

}  // namespace hone
