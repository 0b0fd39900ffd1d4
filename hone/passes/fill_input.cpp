#include "hone/passes/fill_input.h"

#include <algorithm>

namespace hone {
namespace {

Node& input_called(const Graph& graph, std::string_view name) {
  Node* node = graph.find(name);
  user_check(node != nullptr && node->kind() == NodeKind::input, "the graph has no input '{}'",
             name);
  return *node;
}

}  // namespace

bool fill_input(Graph& graph, std::string_view name, std::string_view like, double value) {
  Node& input = input_called(graph, name);
  Node& pattern = input_called(graph, like);
  const Type& type = input.types()[0];
  user_check(type.shape == pattern.types()[0].shape, "input '{}' is {}, '{}' is {}", name,
             to_string(type), like, to_string(pattern.types()[0]));
  const std::vector<Node*> operations = graph.of_kind(NodeKind::operation);
  if (input.users().empty() && !graph.is_output(input)) return false;
  const Value filled = graph.add(
      "full", {{&pattern, 0}}, {{"value", value}, {"dtype", std::string(info(type.dtype).name)}},
      fmt::format("{}.full", name), operations.empty() ? nullptr : operations.front());
  graph.replace_uses({&input, 0}, filled);
  graph.erase(input);
  return true;
}

}  // namespace hone
