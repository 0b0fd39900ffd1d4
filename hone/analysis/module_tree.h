#pragma once

#include <map>
#include <string>
#include <vector>

#include "hone/ir/graph.h"

namespace hone {

/// A module of a model, derived from the names of operations: a dotted prefix that is numbered or shared by at least
/// two of them. A number belongs to the preceding component: "layer.0" is one step of a path.
struct Module {
  std::string path;                   ///< "bert.encoder.layer.0"; empty: the whole model
  std::string label;                  ///< path relative to the parent: "layer.0"
  std::size_t parent = 0;             ///< index; the root's is its own
  std::int64_t depth = 0;             ///< nesting level; 0: the root
  std::vector<std::size_t> children;  ///< in the order of the graph
  std::vector<const Node*> nodes;     ///< operations in this module and in no child
};

/// All modules of a graph, each after its parent. The first one, the root, holds the operations outside all others.
struct ModuleTree {
  std::vector<Module> modules;
  std::map<const Node*, std::size_t> module_of;  ///< module index of each operation
};

/// An operation whose name is a prefix of other names (the linear "query" of "query.heads") belongs to their module.
ModuleTree module_tree(const Graph& graph);

}  // namespace hone
