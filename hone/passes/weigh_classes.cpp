#include "hone/passes/weigh_classes.h"

namespace hone {
namespace {

constexpr std::string_view kOperand = "class_weights";

// Returns whether an operation supports class weights but has none.
bool takes_weights(const Node& node) {
  const std::vector<OperandDef> operands = operands_of(node.op(), node.attributes());
  return !operands.empty() && operands.back().name.starts_with(kOperand) &&
         node.inputs().size() < operands.size();
}

}  // namespace

bool weigh_classes(Graph& graph) {
  Value weights;
  for (Node* node : graph.of_kind(NodeKind::operation)) {
    if (!takes_weights(*node)) continue;
    std::vector<Value> inputs = node->inputs();
    if (!weights)
      weights = graph.add_input(std::string(kOperand), {DType::f32, {inputs[0].type().dim(-1)}});
    inputs.push_back(weights);
    const Value loss =
        graph.add(node->op().name, std::move(inputs), node->attributes(), node->name(), node);
    graph.replace_uses({node, 0}, loss);
    graph.erase(*node);
  }
  return static_cast<bool>(weights);
}

PassDef weigh_classes_pass() {
  return {.name = "weigh_classes",
          .summary = "weight each class in the cross entropy; the weights become a new input",
          .of_runs = true,
          .run = [](Graph& graph, ParameterStore&, const Attributes&, const Session&) {
            return weigh_classes(graph);
          }};
}

}  // namespace hone
