#include "hone/passes/weigh_classes.h"

namespace hone {

bool weigh_classes(Graph& graph) {
  Value weights;
  for (Node* node : graph.of_kind(NodeKind::operation)) {
    if (!node->is("cross_entropy")) continue;
    const Value logits = node->inputs()[0], labels = node->inputs()[1];
    if (!weights) weights = graph.add_input("class_weights", {DType::f32, {logits.type().dim(-1)}});
    const Value loss =
        graph.add("cross_entropy", {logits, labels, weights}, {}, node->name(), node);
    graph.replace_uses({node, 0}, loss);
    graph.erase(*node);
  }
  return static_cast<bool>(weights);
}

PassDef weigh_classes_pass() {
  return {.name = "weigh_classes",
          .summary = "give every cross entropy a weight per class, a new input",
          .of_runs = true,
          .run = [](Graph& graph, ParameterStore&, const Attributes&, const Session&) {
            return weigh_classes(graph);
          }};
}

}  // namespace hone
