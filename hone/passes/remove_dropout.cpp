#include "hone/passes/remove_dropout.h"

namespace hone {

bool remove_dropout(Graph& graph) {
  bool changed = false;
  for (Node* node : graph.of_kind(NodeKind::operation)) {
    if (!node->is("dropout")) continue;
    graph.replace_uses({node, 0}, node->inputs()[0]);
    graph.erase(*node);
    changed = true;
  }
  return changed;
}

}  // namespace hone
