#include "hone/passes/fuse_linear.h"

#include "hone/passes/fused_step.h"

namespace hone {
namespace {

bool fuse(Graph& graph, Node& linear) {
  if (linear.inputs().size() < 3) return false;
  std::vector<Node*> steps = {&linear};
  std::vector<Value> inputs = linear.inputs();
  std::string activation = "none";
  Node* next = only_reader(graph, linear);
  if (const auto name = next == nullptr ? std::nullopt : activation_name(*next)) {
    activation = *name;
    steps.push_back(next);
    next = only_reader(graph, *next);
  }
  if (const Value residual = next == nullptr ? Value{} : residual_of(*next, *steps.back())) {
    inputs.push_back(residual);
    steps.push_back(next);
  }
  if (steps.size() == 1) return false;
  Node& last = *steps.back();
  const Value fused = graph.add("fused_linear", std::move(inputs), {{"activation", activation}},
                                linear.name() + ".fused", &last);
  graph.replace_uses({&last, 0}, fused);
  for (; !steps.empty(); steps.pop_back()) graph.erase(*steps.back());
  return true;
}

}  // namespace

bool fuse_linear(Graph& graph) {
  std::vector<Node*> linears = graph.of_kind(NodeKind::operation);
  std::erase_if(linears, [](const Node* node) { return !node->is("linear"); });
  bool changed = false;
  for (Node* linear : linears) changed |= fuse(graph, *linear);
  return changed;
}

PassDef fuse_linear_pass() {
  return {.name = "fuse_linear",
          .summary = "fuse linear layers with their activations and residuals",
          .of_runs = true,
          .run = [](Graph& graph, ParameterStore&, const Attributes&, const Session&) {
            return fuse_linear(graph);
          }};
}

}  // namespace hone
