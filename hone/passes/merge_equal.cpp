#include "hone/passes/merge_equal.h"

#include <algorithm>
#include <cstring>

#include "hone/tensor/dense.h"

namespace hone {
namespace {

// Replaces all results of `node` by those of `kept`.
void replace_results(Graph& graph, Node& kept, Node& node) {
  for (int i = 0; i < static_cast<int>(node.types().size()); ++i)
    graph.replace_uses({&node, i}, {&kept, i});
  graph.erase(node);
}

bool is_equal(const Node& a, const Node& b) {
  return &a.op() == &b.op() && a.inputs() == b.inputs() && a.attributes() == b.attributes();
}

bool have_same_bits(const Tensor& a, const Tensor& b) {
  const Tensor left = dense_on(a, cpu()), right = dense_on(b, cpu());
  return left.size_bytes() == right.size_bytes() &&
         std::memcmp(left.device_pointer(), right.device_pointer(), left.size_bytes()) == 0;
}

}  // namespace

bool merge_equal(Graph& graph) {
  bool changed = false;
  std::map<Value, std::vector<Node*>> readers;  // readers so far of a value as their first operand
  for (Node* node : graph.of_kind(NodeKind::operation)) {
    if (node->inputs().empty() || node->op().trait == Trait::update) continue;
    std::vector<Node*>& before = readers[node->inputs()[0]];
    const auto kept =
        std::ranges::find_if(before, [&](const Node* other) { return is_equal(*other, *node); });
    if (kept == before.end()) {
      before.push_back(node);
    } else {
      replace_results(graph, **kept, *node);
      changed = true;
    }
  }
  return changed;
}

bool merge_equal_states(Graph& graph, const ParameterStore& parameters) {
  bool changed = false;
  std::vector<Node*> states;
  for (Node* state : graph.of_kind(NodeKind::parameter)) {
    if (state->role() != ParameterRole::format_state || !parameters.contains(state->name()))
      continue;
    const auto kept = std::ranges::find_if(states, [&](const Node* other) {
      return other->types() == state->types() &&
             have_same_bits(parameters.at(other->name()), parameters.at(state->name()));
    });
    if (kept == states.end()) {
      states.push_back(state);
    } else {
      replace_results(graph, **kept, *state);
      changed = true;
    }
  }
  return merge_equal(graph) || changed;
}

PassDef merge_equal_pass() {
  return {.name = "merge_equal",
          .summary = "eliminate common subexpressions",
          .run = [](Graph& graph, ParameterStore&, const Attributes&, const Session&) {
            return merge_equal(graph);
          }};
}

PassDef merge_equal_states_pass() {
  return {.name = "merge_equal_states",
          .summary =
              "eliminate common subexpressions, with equal calibration too; for inference graphs",
          .of_runs = true,
          .run = [](Graph& graph, ParameterStore& parameters, const Attributes&, const Session&) {
            return merge_equal_states(graph, parameters);
          }};
}

}  // namespace hone
