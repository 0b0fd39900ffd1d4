#include "hone/passes/fuse_linear.h"

#include <optional>

namespace hone {
namespace {

// What is called so by `fused_linear`; none: it is no activation that it knows.
std::optional<std::string> activation_name(const Node& node) {
  if (node.is("relu") || node.is("tanh")) return std::string(node.op().name);
  if (!node.is("gelu")) return std::nullopt;
  return node.attributes().get<std::string>("approximate") == "tanh" ? "gelu_tanh" : "gelu";
}

// The operation that alone reads a node; null: none, or another one does, too.
Node* only_user(const Graph& graph, const Node& node) {
  return node.users().size() == 1 && !graph.is_output(node) ? node.users()[0] : nullptr;
}

// What `node`, an addition of two values of one type, adds to that of `summand`; empty: it is none.
Value residual_of(const Node& node, const Node& summand) {
  if (!node.is("add")) return {};
  const std::size_t own = node.inputs()[0].node == &summand ? 0 : 1;
  const Value other = node.inputs()[1 - own];
  return other.type() == node.types()[0] && summand.types()[0] == node.types()[0] ? other : Value{};
}

bool fuse(Graph& graph, Node& linear) {
  if (linear.inputs().size() < 3) return false;
  std::vector<Node*> steps = {&linear};
  std::vector<Value> inputs = linear.inputs();
  std::string activation = "none";
  Node* next = only_user(graph, linear);
  if (const auto name = next == nullptr ? std::nullopt : activation_name(*next)) {
    activation = *name;
    steps.push_back(next);
    next = only_user(graph, *next);
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
          .summary = "compute linears together with their activations and residuals",
          .of_runs = true,
          .run = [](Graph& graph, ParameterStore&, const Attributes&, const Session&) {
            return fuse_linear(graph);
          }};
}

}  // namespace hone
