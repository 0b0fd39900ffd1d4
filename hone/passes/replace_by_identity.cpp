#include "hone/passes/replace_by_identity.h"

#include <algorithm>

#include "hone/base/text.h"

namespace hone {
namespace {

std::vector<Node*> linears_called(const Graph& graph, const std::string& glob) {
  std::vector<Node*> linears = graph.of_kind(NodeKind::operation);
  std::erase_if(linears, [&](const Node* node) {
    return !node->is("linear") || !glob_match(glob, node->name());
  });
  user_check(!linears.empty(), "no linear layer matches '{}'; `hone plan` lists them", glob);
  return linears;
}

// Erases parameters and their quantizers that nothing reads any more.
void erase_unread(Graph& graph, Node& node) {
  const bool of_parameter =
      node.kind() == NodeKind::parameter ||
      (node.kind() == NodeKind::operation && node.inputs()[0].node->kind() == NodeKind::parameter);
  if (!of_parameter || !node.users().empty() || graph.is_output(node)) return;
  const std::vector<Value> inputs = node.inputs();
  graph.erase(node);
  for (const Value& input : inputs) erase_unread(graph, *input.node);
}

}  // namespace

bool replace_by_identity(Graph& graph, const std::vector<std::string>& names) {
  std::vector<Node*> linears;
  for (const std::string& glob : names)
    for (Node* linear : linears_called(graph, glob)) {
      const Type &from = linear->inputs()[0].type(), &to = linear->types()[0];
      user_check(from == to, "%{} computes {} from {}, so its input cannot replace it",
                 linear->name(), to_string(to), to_string(from));
      if (std::ranges::find(linears, linear) == linears.end()) linears.push_back(linear);
    }
  for (Node* linear : linears) {
    const std::vector<Value> inputs = linear->inputs();
    graph.replace_uses({linear, 0}, inputs[0]);
    graph.erase(*linear);
    for (std::size_t i = 1; i < inputs.size(); ++i) erase_unread(graph, *inputs[i].node);
  }
  return !linears.empty();
}

PassDef replace_by_identity_pass() {
  return {
      .name = "replace_by_identity",
      .summary = "replace linear layers by the identity",
      .options = {{"names", "globs over linear layers, separated by commas", std::string(), true}},
      .example = "names=bert.pooler.dense",
      .run = [](Graph& graph, ParameterStore&, const Attributes& options, const Session&) {
        return replace_by_identity(graph, split(options.get<std::string>("names"), ','));
      }};
}

}  // namespace hone
