#include "hone/passes/remove_dropout.h"

#include <set>

namespace hone {

namespace {

// Disables the dropout of an attention; returns its random key, or null if it has no dropout.
Node* keep_weights(Graph& graph, Node& attention) {
  if (attention.attributes().get<double>("p") == 0) return nullptr;
  std::vector<Value> inputs = attention.inputs();
  Node* const key = inputs[3].node;
  inputs.erase(inputs.begin() + 3);
  graph.replace_operation(attention, "attention", std::move(inputs),
                          {{"scale", *attention.attributes().find("scale")}});
  return key;
}

}  // namespace

bool remove_dropout(Graph& graph) {
  std::set<Node*> keys;
  for (Node* attention : graph.operations("attention"))
    if (Node* key = keep_weights(graph, *attention)) keys.insert(key);
  for (Node* dropout : graph.operations("dropout")) {
    keys.insert(dropout->input(1).node);
    graph.replace_uses(dropout->result(), dropout->input(0));
    graph.erase(*dropout);
  }
  for (Node* key : keys)
    if (key->kind() == NodeKind::input && !graph.is_read(*key)) graph.erase(*key);
  return !keys.empty();
}

PassDef remove_dropout_pass() {
  return {.name = "remove_dropout",
          .summary = "remove every dropout",
          .run = [](Graph& graph, ParameterStore&, const Attributes&, const Session&) {
            return remove_dropout(graph);
          }};
}

}  // namespace hone
