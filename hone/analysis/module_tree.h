#pragma once

#include <map>
#include <string>
#include <vector>

#include "hone/ir/graph.h"

namespace hone {

/// One module of a model, as the names of its operations tell: a part that two of them or more share, up to a dot, and every numbered one. A number
/// belongs to the word in front of it: "layer.0" is one step of a path.
struct Module {
  std::string path;                   ///< "bert.encoder.layer.0"; empty: all
  std::string label;                  ///< the same without its parent's path: "layer.0"
  std::size_t parent = 0;             ///< of the first one itself
  std::int64_t depth = 0;             ///< modules around it, itself too
  std::vector<std::size_t> children;  ///< in the order of the graph
  std::vector<const Node*> nodes;     ///< operations that stand in it and in no child
};

/// All modules of a graph, each behind its parent; the first one holds what stands in no other.
struct ModuleTree {
  std::vector<Module> modules;
  std::map<const Node*, std::size_t> module_of;  ///< of each operation
};

/// An operation whose name begins the names of others (the linear "query" of "query.heads") stands among those.
ModuleTree module_tree(const Graph& graph);

}  // namespace hone
