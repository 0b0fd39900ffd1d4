#include "hone/passes/fuse_conv2d.h"

#include "hone/passes/fused_step.h"

namespace hone {
namespace {

bool fuse_steps(Graph& graph, Node& convolution) {
  if (convolution.inputs().size() < 3) return false;
  std::vector<Node*> steps = {&convolution};
  std::vector<Value> inputs = convolution.inputs();
  Attributes attributes = convolution.attributes();
  Node* next = only_reader(graph, convolution);
  if (const Value residual = next == nullptr ? Value{} : residual_of(*next, convolution)) {
    inputs.push_back(residual);
    steps.push_back(next);
    next = only_reader(graph, *next);
  }
  if (const auto name = next == nullptr ? std::nullopt : activation_name(*next)) {
    attributes.set("activation", *name);
    steps.push_back(next);
  }
  if (steps.size() == 1) return false;
  Node& last = *steps.back();
  const Value fused = graph.add("fused_conv2d", std::move(inputs), std::move(attributes),
                                convolution.name() + ".fused", &last);
  graph.replace_uses(last.result(), fused);
  for (; !steps.empty(); steps.pop_back()) graph.erase(*steps.back());
  return true;
}

}  // namespace

bool fuse_conv2d(Graph& graph) {
  bool changed = false;
  for (Node* convolution : graph.operations("conv2d")) changed |= fuse_steps(graph, *convolution);
  return changed;
}

PassDef fuse_conv2d_pass() {
  return {.name = "fuse_conv2d",
          .summary = "fuse convolutions with their residuals and activations",
          .of_runs = true,
          .run = [](Graph& graph, ParameterStore&, const Attributes&, const Session&) {
            return fuse_conv2d(graph);
          }};
}

}  // namespace hone
