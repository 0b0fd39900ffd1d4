#include "hone/passes/remove_dropout.h"

#include <set>

namespace hone {

bool remove_dropout(Graph& graph) {
  std::set<Node*> keys;
  for (Node* node : graph.of_kind(NodeKind::operation)) {
    if (!node->is("dropout")) continue;
    keys.insert(node->inputs()[1].node);
    graph.replace_uses({node, 0}, node->inputs()[0]);
    graph.erase(*node);
  }
  for (Node* key : keys) {
    const bool read = !key->users().empty() || graph.is_output(*key);
    if (key->kind() == NodeKind::input && !read) graph.erase(*key);
  }
  return !keys.empty();
}

PassDef remove_dropout_pass() {
  return {.name = "remove_dropout",
          .summary = "replace every dropout by what it reads",
          .run = [](Graph& graph, ParameterStore&, const Attributes&, const Session&) {
            return remove_dropout(graph);
          }};
}

}  // namespace hone
