#include "hone/analysis/cost.h"

#include <algorithm>

namespace hone {
namespace {

std::int64_t bytes_of(const Node& node, const Bindings& bindings) {
  std::int64_t bytes = 0;
  for (const Type& type : node.types()) {
    bytes += element_count(resolve(type.shape, bindings)) *
             static_cast<std::int64_t>(info(type.dtype).size_bytes);
  }
  return bytes;
}

bool shares_memory(const Node& node) {
  return node.op().trait == Trait::view || node.op().trait == Trait::update;
}

// The node whose memory a value lives in: through views to what they look at.
const Node* owner(const Node* node) {
  while (node->kind() == NodeKind::operation && shares_memory(*node)) node = node->inputs()[0].node;
  return node;
}

std::int64_t peak_bytes(const Graph& graph, const Bindings& bindings) {
  std::map<const Node*, const Node*> last_reader;
  for (const auto& node : graph.nodes()) {
    for (const Value& input : node->inputs()) last_reader[owner(input.node)] = node.get();
  }
  for (const auto& [name, value] : graph.outputs()) last_reader.erase(owner(value.node));
  std::map<const Node*, std::vector<const Node*>> dying;
  for (const auto& [node, reader] : last_reader) dying[reader].push_back(node);
  std::int64_t live = 0, peak = 0;
  for (const auto& node : graph.nodes()) {
    if (node->kind() != NodeKind::operation) continue;
    if (!shares_memory(*node)) live += bytes_of(*node, bindings);
    peak = std::max(peak, live);
    for (const Node* dead : dying[node.get()]) {
      if (dead->kind() == NodeKind::operation) live -= bytes_of(*dead, bindings);
    }
  }
  return peak;
}

}  // namespace

Cost cost(const Graph& graph, const Bindings& bindings) {
  Cost total;
  for (const auto& node : graph.nodes()) {
    if (node->kind() == NodeKind::parameter) total.parameter_bytes += bytes_of(*node, bindings);
    if (node->kind() != NodeKind::operation || node->op().flops == nullptr) continue;
    const std::vector<Type> types = node->input_types();
    const double flops = node->op().flops({types, node->attributes()}, bindings);
    total.flops += flops;
    total.flops_by_op[std::string(node->op().name)] += flops;
  }
  total.peak_value_bytes = peak_bytes(graph, bindings);
  return total;
}

}  // namespace hone
