#include "hone/passes/rebuild.h"

#include "hone/base/random.h"

namespace hone {
namespace {

constexpr std::string_view kStream = "stream";

// Returns the random stream that front ends assign to an operation of this name; attributes are signed.
std::int64_t stream_called(std::string_view name) {
  return static_cast<std::int64_t>(stream_of(name) >> 1);
}

Attributes attributes_of(const Node& node, const GraphChanges& changes, std::string_view name) {
  const auto changed = changes.attributes.find(node.name());
  Attributes attributes = changed == changes.attributes.end() ? node.attributes() : changed->second;
  const Attribute* stream = attributes.find(kStream);
  if (stream != nullptr && *stream == Attribute(stream_called(node.name())))
    attributes.set(kStream, stream_called(name));
  return attributes;
}

}  // namespace

Graph rebuilt(const Graph& graph, const GraphChanges& changes) {
  Graph built(graph.ops());
  std::map<const Node*, Node*> twins;
  for (const auto& node : graph.nodes()) {
    const std::string name = changes.rename ? changes.rename(node->name()) : node->name();
    const auto type = changes.types.find(node->name());
    Node*& twin = twins[node.get()];
    if (node->kind() == NodeKind::input) {
      twin = built.add_input(name, node->types()[0]).node;
    } else if (node->kind() == NodeKind::parameter) {
      twin = built
                 .add_parameter(name, type == changes.types.end() ? node->types()[0] : type->second,
                                node->role(), node->trainable())
                 .node;
    } else {
      std::vector<Value> inputs;
      for (const Value& input : node->inputs())
        inputs.push_back({twins.at(input.node), input.index});
      twin = &built.add_node(node->op().name, std::move(inputs),
                             attributes_of(*node, changes, name), name);
    }
  }
  for (const auto& [name, value] : graph.outputs())
    built.set_output(name, {twins.at(value.node), value.index});
  return built;
}

}  // namespace hone
