#include "hone/passes/fused_step.h"

namespace hone {

std::optional<std::string> activation_name(const Node& node) {
  if (node.is("relu") || node.is("tanh")) return std::string(node.op().name);
  if (!node.is("gelu")) return std::nullopt;
  return node.attributes().get<std::string>("approximate") == "tanh" ? "gelu_tanh" : "gelu";
}

Node* only_reader(const Graph& graph, const Node& node) {
  return node.users().size() == 1 && !graph.is_output(node) ? node.users()[0] : nullptr;
}

Value residual_of(const Node& node, const Node& summand) {
  if (!node.is("add")) return {};
  const std::size_t own = node.inputs()[0].node == &summand ? 0 : 1;
  const Value other = node.inputs()[1 - own];
  return other.type() == node.types()[0] && summand.types()[0] == node.types()[0] ? other : Value{};
}

}  // namespace hone
