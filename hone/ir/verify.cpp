#include "hone/ir/verify.h"

#include <algorithm>
#include <set>

namespace hone {
namespace {

std::ptrdiff_t uses_of(const Node& node, const Node& by) {
  return std::count_if(by.inputs().begin(), by.inputs().end(),
                       [&](const Value& v) { return v.node == &node; });
}

std::vector<Type> inferred_types(const Node& node) {
  try {
    return node.op().infer({node.input_types(), node.attributes()});
  } catch (const UserError& error) {
    HONE_ASSERT(false, "the inputs of %{} do not fit: {}", node.name(), error.what());
  }
}

void verify_operation(const Node& node, const std::set<const Node*>& defined) {
  for (const Value& input : node.inputs()) {
    HONE_ASSERT(defined.contains(input.node), "%{} uses a value that is not defined above it",
                node.name());
    HONE_ASSERT(input.index >= 0 && input.index < static_cast<int>(input.node->types().size()),
                "%{} uses result {} of %{}", node.name(), input.index, input.node->name());
    HONE_ASSERT(std::count(input.node->users().begin(), input.node->users().end(), &node) ==
                    uses_of(*input.node, node),
                "%{} and its input %{} disagree about the use", node.name(), input.node->name());
  }
  HONE_ASSERT(inferred_types(node) == node.types(),
              "the types of %{} do not follow from its inputs", node.name());
}

}  // namespace

void verify(const Graph& graph) {
  std::set<const Node*> defined;
  std::set<std::string> names;
  for (const auto& node : graph.nodes()) {
    HONE_ASSERT(names.insert(node->name()).second, "two nodes are called %{}", node->name());
    HONE_ASSERT(graph.find(node->name()) == node.get(), "%{} is not found by its name",
                node->name());
    if (node->kind() == NodeKind::operation) verify_operation(*node, defined);
    defined.insert(node.get());
  }
  for (const auto& node : graph.nodes()) {
    for (const Node* user : node->users()) {
      HONE_ASSERT(defined.contains(user) && uses_of(*node, *user) > 0,
                  "%{} has a user that does not use it", node->name());
    }
  }
  for (const auto& [name, value] : graph.outputs()) {
    HONE_ASSERT(defined.contains(value.node), "output {} is not a value of the graph", name);
    HONE_ASSERT(value.index >= 0 && value.index < static_cast<int>(value.node->types().size()),
                "output {} is result {} of %{}", name, value.index, value.node->name());
  }
}

}  // namespace hone
