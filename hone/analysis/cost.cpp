#include "hone/analysis/cost.h"

#include <algorithm>
#include <set>

namespace hone {
namespace {

// Rounds the bytes of each result up to a multiple of `grain`, at least one.
std::int64_t bytes_of(const Node& node, const Bindings& bindings, std::int64_t grain = 1) {
  std::int64_t bytes = 0;
  for (const Type& type : node.types()) {
    const std::int64_t exact = element_count(resolve(type.shape, bindings)) *
                               static_cast<std::int64_t>(info(type.dtype).size_bytes);
    bytes += std::max<std::int64_t>(grain > 1 ? 1 : 0, (exact + grain - 1) / grain) * grain;
  }
  return bytes;
}

// A view that may have gaps: users that need contiguous rows have to copy it.
bool has_gaps(const Node& node) {
  return node.kind() == NodeKind::operation && node.op().trait == Trait::view &&
         !node.op().closes_gaps;
}

bool shares_memory(const Node& node) {
  const OpDef& op = node.op();
  return !op.aliases.empty() && !(op.closes_gaps && has_gaps(*node.inputs()[0].node));
}

// Returns the node that owns the memory of a value, looking through views.
const Node* owner(const Node* node) {
  while (node->kind() == NodeKind::operation && shares_memory(*node))
    node = node->inputs()[node->op().aliases[0]].node;
  return node;
}

using LastReaders = std::map<const Node*, const Node*>;  // by owner

LastReaders find_last_readers(const Graph& graph) {
  LastReaders last_reader;
  for (const auto& node : graph.nodes()) {
    for (const Value& input : node->inputs()) last_reader[owner(input.node)] = node.get();
  }
  for (const auto& [name, value] : graph.outputs()) last_reader.erase(owner(value.node));
  return last_reader;
}

// Returns the owner whose memory the first output of a node reuses (see `OpDef::in_place`), or null.
const Node* reused_owner(const Node& node, const LastReaders& last_reader) {
  const std::optional<std::size_t> in_place = node.op().in_place;
  if (!in_place) return nullptr;
  const Value& input = node.inputs()[*in_place];
  const Node* holder = owner(input.node);
  const auto last = last_reader.find(holder);
  const auto reads_holder = [&](const Value& value) { return owner(value.node) == holder; };
  const bool dies = last != last_reader.end() && last->second == &node &&
                    std::ranges::count_if(node.inputs(), reads_holder) == 1;
  return dies && holder->kind() == NodeKind::operation && !has_gaps(*input.node) &&
                 input.type() == node.types()[0]
             ? holder
             : nullptr;
}

// Returns the gradients: the inputs of updates with the shape of the updated tensor.
std::set<const Node*> gradient_owners(const Graph& graph) {
  std::set<const Node*> owners;
  for (const Node* node : graph.of_kind(NodeKind::operation)) {
    if (node->op().trait != Trait::update) continue;
    for (std::size_t i = 1; i < node->inputs().size(); ++i) {
      const Value& input = node->inputs()[i];
      if (input.node->kind() == NodeKind::operation && input.type() == node->inputs()[0].type())
        owners.insert(owner(input.node));
    }
  }
  return owners;
}

/// Memory of live values at the moment of highest use.
struct Peak {
  std::int64_t bytes = 0, gradient_bytes = 0;
};

Peak peak_of(const Graph& graph, const Bindings& bindings, std::int64_t grain_bytes) {
  const LastReaders last_reader = find_last_readers(graph);
  const std::set<const Node*> gradients = gradient_owners(graph);
  std::map<const Node*, std::vector<const Node*>> dying;
  for (const auto& [node, reader] : last_reader) dying[reader].push_back(node);
  Peak live, peak;
  const auto add = [&](const Node& node, int sign) {
    const std::int64_t bytes = sign * bytes_of(node, bindings, grain_bytes);
    live.bytes += bytes;
    if (gradients.contains(&node)) live.gradient_bytes += bytes;
  };
  for (const auto& node : graph.nodes()) {
    if (node->kind() != NodeKind::operation) continue;
    const Node* taken = reused_owner(*node, last_reader);
    if (!shares_memory(*node)) add(*node, 1);
    if (taken != nullptr) add(*taken, -1);
    if (live.bytes > peak.bytes) peak = live;
    for (const Node* dead : dying[node.get()])
      if (dead->kind() == NodeKind::operation && dead != taken) add(*dead, -1);
  }
  return peak;
}

}  // namespace

std::int64_t peak_value_bytes(const Graph& graph, const Bindings& bindings,
                              std::int64_t grain_bytes) {
  return peak_of(graph, bindings, grain_bytes).bytes;
}

double product_flops(const Graph& graph, const Bindings& bindings) {
  double flops = 0;
  for (const Node* node : graph.of_kind(NodeKind::operation)) {
    if (node->op().trait != Trait::contraction || node->op().flops == nullptr) continue;
    const std::vector<Type> types = node->input_types();
    flops += node->op().flops({types, node->attributes()}, bindings);
  }
  return flops;
}

Cost cost(const Graph& graph, const Bindings& bindings) {
  Cost total;
  for (const auto& node : graph.nodes()) {
    if (node->kind() == NodeKind::parameter) {
      total.parameter_bytes += bytes_of(*node, bindings);
      if (node->role() == ParameterRole::moment) total.moment_bytes += bytes_of(*node, bindings);
    }
    if (node->kind() != NodeKind::operation || node->op().flops == nullptr) continue;
    const std::vector<Type> types = node->input_types();
    const double flops = node->op().flops({types, node->attributes()}, bindings);
    total.flops += flops;
    total.flops_by_op[std::string(node->op().name)] += flops;
  }
  const Peak peak = peak_of(graph, bindings, 1);
  total.peak_value_bytes = peak.bytes;
  total.peak_gradient_bytes = peak.gradient_bytes;
  return total;
}

}  // namespace hone
