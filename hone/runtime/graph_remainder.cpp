#include "hone/runtime/graph_remainder.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "hone/passes/dead_code.h"
#include "hone/tensor/dense.h"

namespace hone {
namespace {

bool same_bytes(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || a.sizes() != b.sizes()) return false;
  if (a.storage() == b.storage() && a.offset() == b.offset() && a.strides() == b.strides())
    return true;
  const Tensor left = dense_on(a, cpu()), right = dense_on(b, cpu());
  return left.size_bytes() == 0 ||
         std::memcmp(left.device_pointer(), right.device_pointer(), left.size_bytes()) == 0;
}

/// Finds the nodes of a variant that equal those of its base.
class Correspondence {
 public:
  Correspondence(const Graph& base, const ParameterStore& base_parameters,
                 const ParameterStore& variant_parameters)
      : base_(base), base_parameters_(base_parameters), variant_parameters_(variant_parameters) {}

  /// Call this in the order of nodes.
  void look_at(const Node& node) {
    const Node* twin = base_.find(node.name());
    if (twin != nullptr && same(node, *twin)) same_.insert(&node);
  }
  bool has(const Node& node) const { return same_.contains(&node); }

 private:
  bool same(const Node& node, const Node& twin) const {
    if (node.kind() != twin.kind() || node.types() != twin.types()) return false;
    if (node.kind() == NodeKind::input) return true;
    if (node.kind() == NodeKind::parameter)
      return same_bytes(variant_parameters_.at(node.name()), base_parameters_.at(twin.name()));
    const auto same_value = [&](const Value& a, const Value& b) {
      return a.index == b.index && a.node->name() == b.node->name() && same_.contains(a.node);
    };
    return node.op().name == twin.op().name && node.attributes() == twin.attributes() &&
           std::ranges::equal(node.inputs(), twin.inputs(), same_value);
  }

  const Graph& base_;
  const ParameterStore& base_parameters_;
  const ParameterStore& variant_parameters_;
  std::set<const Node*> same_;
};

}  // namespace

std::string value_name(const Value& value) {
  return value.index == 0 ? value.node->name()
                          : fmt::format("{}#{}", value.node->name(), value.index);
}

GraphRest rest_of(const Graph& variant, const ParameterStore& variant_parameters, const Graph& base,
                  const ParameterStore& base_parameters) {
  GraphRest rest{Graph(variant.ops()), {}, {}};
  Correspondence both(base, base_parameters, variant_parameters);
  std::map<Value, Value> copies;
  const auto copy_of = [&](const Value& value) {
    const auto found = copies.find(value);
    if (found != copies.end()) return found->second;
    const Node& node = *value.node;
    Value copy;
    if (node.kind() == NodeKind::parameter) {
      copy = rest.graph.add_parameter(node.name(), node.types()[0], node.role(), node.trainable());
      const bool same = both.has(node);
      rest.parameters.set(node.name(),
                          (same ? base_parameters : variant_parameters).at(node.name()));
    } else {
      HONE_ASSERT(both.has(node), "%{} comes after a node that reads it", node.name());
      rest.shared.push_back(value_name(value));
      copy = rest.graph.add_input(rest.shared.back(), value.type());
    }
    copies.emplace(value, copy);
    return copy;
  };
  for (const auto& node : variant.nodes()) {
    both.look_at(*node);
    if (node->kind() != NodeKind::operation || both.has(*node)) continue;
    std::vector<Value> inputs;
    for (const Value& input : node->inputs()) inputs.push_back(copy_of(input));
    Node& copy = rest.graph.add_node(node->op().name, inputs, node->attributes(), node->name());
    for (int i = 0; i < static_cast<int>(node->types().size()); ++i)
      copies.emplace(Value{node.get(), i}, Value{&copy, i});
  }
  for (const auto& [name, value] : variant.outputs()) rest.graph.set_output(name, copy_of(value));
  return rest;
}

Graph graph_of_values(const Graph& graph, const std::vector<std::string>& values) {
  Graph kept = graph;
  kept.clear_outputs();
  const std::set<std::string> wanted(values.begin(), values.end());
  for (const auto& node : kept.nodes())
    for (int i = 0; i < static_cast<int>(node->types().size()); ++i)
      if (const std::string name = value_name({node.get(), i}); wanted.contains(name))
        kept.set_output(name, {node.get(), i});
  HONE_ASSERT(kept.outputs().size() == wanted.size(), "{} of {} values are in the graph",
              kept.outputs().size(), wanted.size());
  remove_dead_code(kept);
  return kept;
}

}  // namespace hone
