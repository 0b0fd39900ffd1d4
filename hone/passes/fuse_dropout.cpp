#include "hone/passes/fuse_dropout.h"

#include <algorithm>
#include <span>

#include "hone/passes/lora.h"

namespace hone {
namespace {

// Returns the only reader of `node` that is an `op`; null if there is none or several.
Node* user_called(const Node& node, std::string_view op) {
  Node* found = nullptr;
  for (Node* user : node.users()) {
    if (!user->is(op)) continue;
    if (found != nullptr) return nullptr;
    found = user;
  }
  return found;
}

/// A dropout, the product that reads its result, and the gradients of both.
struct Group {
  Node *dropout, *product;
  Node* weight_gradient;   // reads the dropped-out x and the product's gradient
  Node* product_gradient;  // multiplies by the factor
  Node* input_gradient;    // drops the same elements
};

bool is_alike(const Node& a, const Node& b) {
  // Compares the random key, and `places` if present.
  return a.attributes() == b.attributes() &&
         std::ranges::equal(std::span(a.inputs()).subspan(1), std::span(b.inputs()).subspan(1));
}

// Returns the group of a dropout; `product` is null if there is none.
Group group_of(const Graph& graph, Node& dropout) {
  Group group{&dropout, user_called(dropout, "linear"),
              user_called(dropout, "linear_weight_gradient"), nullptr, nullptr};
  const Group none{};
  if (group.product == nullptr || group.weight_gradient == nullptr || graph.is_output(dropout) ||
      dropout.users().size() != 2 || group.product->inputs().size() != 2)
    return none;
  const Value factor = group.product->inputs()[1];
  if (!is_adapter(*factor.node) || group.product->inputs()[0].node != &dropout ||
      group.weight_gradient->inputs()[0].node != &dropout)
    return none;
  for (Node* user : factor.node->users())
    if (user->is("matmul") && user->inputs()[0] == group.weight_gradient->inputs()[1] &&
        user->users().size() == 1)
      group.product_gradient = user;
  if (group.product_gradient == nullptr || graph.is_output(*group.product_gradient)) return none;
  group.input_gradient = group.product_gradient->users()[0];
  return group.input_gradient->is("dropout") && is_alike(dropout, *group.input_gradient) ? group
                                                                                         : none;
}

// Returns whichever comes first in the graph.
Node& first_of(const Graph& graph, Node& a, Node& b) {
  const auto found = std::ranges::find_if(
      graph.nodes(), [&](const auto& node) { return node.get() == &a || node.get() == &b; });
  return **found;
}

void fuse(Graph& graph, const Group& group) {
  Node& dropout = *group.dropout;
  const Value x = dropout.inputs()[0], key = dropout.inputs()[1],
              factor = group.product->inputs()[1];
  std::vector<Value> inputs = {x, key, factor};
  std::vector<Value> gradient_inputs = {x, key, factor, group.weight_gradient->inputs()[1]};
  if (dropout.inputs().size() > 2)
    for (std::vector<Value>* read : {&inputs, &gradient_inputs})
      read->push_back(dropout.inputs()[2]);
  const Value y = graph.add("dropped_linear", std::move(inputs), dropout.attributes(),
                            group.product->name() + ".dropped", group.product);
  Node& gradient = graph.add_node("dropped_linear_gradient", std::move(gradient_inputs),
                                  dropout.attributes(), group.product->name() + ".dropped.gradient",
                                  &first_of(graph, *group.weight_gradient, *group.input_gradient));
  graph.replace_uses({group.product, 0}, y);
  graph.replace_uses({group.input_gradient, 0}, {&gradient, 0});
  graph.replace_uses({group.weight_gradient, 0}, {&gradient, 1});
  for (Node* node : {group.input_gradient, group.product_gradient, group.weight_gradient,
                     group.product, group.dropout})
    graph.erase(*node);
}

}  // namespace

bool fuse_dropout(Graph& graph) {
  std::vector<Group> groups;
  for (Node* node : graph.of_kind(NodeKind::operation)) {
    if (!node->is("dropout")) continue;
    const Group group = group_of(graph, *node);
    if (group.product != nullptr) groups.push_back(group);
  }
  for (const Group& group : groups) fuse(graph, group);
  return !groups.empty();
}

PassDef fuse_dropout_pass() {
  return {.name = "fuse_dropout",
          .summary = "fuse the dropout of adapters' inputs into their product, in training",
          .of_runs = true,
          .run = [](Graph& graph, ParameterStore&, const Attributes&, const Session&) {
            return fuse_dropout(graph);
          }};
}

}  // namespace hone
