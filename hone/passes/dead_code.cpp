#include "hone/passes/dead_code.h"

#include <algorithm>
#include <set>

namespace hone {

bool remove_dead_code(Graph& graph) {
  std::set<const Node*> live;
  for (const auto& [name, value] : graph.outputs()) live.insert(value.node);
  std::vector<Node*> order;
  for (const auto& node : graph.nodes()) order.push_back(node.get());
  // In reverse order, users come before their inputs.
  bool changed = false;
  for (auto at = order.rbegin(); at != order.rend(); ++at) {
    Node& node = **at;
    const bool updates = node.kind() == NodeKind::operation && node.op().trait == Trait::update;
    if (node.kind() == NodeKind::input || updates || live.contains(&node) || !node.users().empty())
      continue;
    graph.erase(node);
    changed = true;
  }
  return changed;
}

PassDef remove_dead_code_pass() {
  return {.name = "remove_dead_code",
          .summary = "remove operations and parameters that no output depends on",
          .run = [](Graph& graph, ParameterStore&, const Attributes&, const Session&) {
            return remove_dead_code(graph);
          }};
}

}  // namespace hone
