#include "hone/analysis/graph_difference.h"

#include <fmt/ranges.h>

#include <bit>
#include <cmath>
#include <map>
#include <set>

#include "hone/ir/print.h"
#include "hone/tensor/dense.h"

namespace hone {
namespace {

using Pairs = std::map<const Node*, const Node*>;  // node of the first graph -> node of the second

bool same_operation(const Node& a, const Node& b) {
  return a.kind() == b.kind() && (a.kind() != NodeKind::operation || a.op().name == b.op().name);
}

std::string text_of(const Attribute* attribute) {
  return attribute == nullptr ? "none" : to_string(*attribute);
}

std::vector<std::string> attribute_names(const Node& a, const Node& b) {
  std::vector<std::string> names;
  for (const Node* node : {&a, &b})
    for (const auto& [name, value] : node->attributes().items())
      if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  return names;
}

// Compares attributes and types; inputs are compared elsewhere.
std::vector<std::string> changes_of(const Node& a, const Node& b) {
  std::vector<std::string> changes;
  for (const std::string& name : attribute_names(a, b)) {
    const std::string before = text_of(a.attributes().find(name)),
                      after = text_of(b.attributes().find(name));
    if (before != after) changes.push_back(fmt::format("{} {} -> {}", name, before, after));
  }
  const auto type_text = [](const Node& node) {
    std::vector<std::string> types;
    for (const Type& type : node.types()) types.push_back(to_string(type));
    return fmt::format("{}", fmt::join(types, ", "));
  };
  if (a.types() != b.types())
    changes.push_back(fmt::format("type {} -> {}", type_text(a), type_text(b)));
  return changes;
}

bool has_matching_inputs(const Node& a, const Node& b, const Pairs& pairs) {
  return std::ranges::equal(a.inputs(), b.inputs(), [&](const Value& x, const Value& y) {
    const auto pair = pairs.find(x.node);
    return x.index == y.index && pair != pairs.end() && pair->second == y.node;
  });
}

Pairs pairs_of(const Graph& first, const Graph& second) {
  Pairs pairs;
  std::set<const Node*> taken;
  for (const auto& node : first.nodes()) {
    const Node* same = second.find(node->name());
    if (same == nullptr || !same_operation(*node, *same)) continue;
    pairs[node.get()] = same;
    taken.insert(same);
  }
  // Nodes follow the nodes they read, so one pass finds chains of renamed nodes.
  for (const auto& node : first.nodes()) {
    if (node->kind() != NodeKind::operation || pairs.contains(node.get()) || node->inputs().empty())
      continue;
    const auto source = pairs.find(node->input(0).node);
    if (source == pairs.end()) continue;
    for (const Node* user : source->second->users()) {
      if (taken.contains(user) || !same_operation(*node, *user) ||
          !changes_of(*node, *user).empty() || !has_matching_inputs(*node, *user, pairs))
        continue;
      pairs[node.get()] = user;
      taken.insert(user);
      break;
    }
  }
  return pairs;
}

std::string kind_text(const Node& node) {
  if (node.kind() == NodeKind::input) return "input";
  if (node.kind() == NodeKind::parameter) return "parameter";
  return std::string(node.op().name);
}

std::string inputs_text(const Node& node) {
  std::vector<std::string> names;
  for (const Value& input : node.inputs())
    if (input.node->kind() != NodeKind::parameter) names.push_back(input.node->name());
  return fmt::format("{}", fmt::join(names, ", "));
}

void compare_outputs(const Graph& first, const Graph& second, const Pairs& pairs,
                     std::vector<NodeDifference>& differences) {
  for (const auto& [name, value] : first.outputs()) {
    const Value other = second.output(name);
    if (!other) {
      differences.push_back({DifferenceKind::only_in_first, name, "", "output"});
      continue;
    }
    const auto pair = pairs.find(value.node);
    if (pair == pairs.end() || pair->second != other.node || value.index != other.index)
      differences.push_back({DifferenceKind::changed, name, name, "output",
                             fmt::format("of {} -> {}", value.node->name(), other.node->name())});
  }
  for (const auto& [name, value] : second.outputs())
    if (!first.output(name))
      differences.push_back({DifferenceKind::only_in_second, "", name, "output"});
}

}  // namespace

std::span<const EnumName> enum_names(DifferenceKind) {
  static constexpr EnumName kWords[] = {
      {static_cast<int>(DifferenceKind::only_in_first), "only in A"},
      {static_cast<int>(DifferenceKind::only_in_second), "only in B"},
      {static_cast<int>(DifferenceKind::changed), "changed"}};
  return kWords;
}
std::string to_string(DifferenceKind kind) { return std::string(enum_name(kind)); }

const Fields& fields_of(const ParameterDifference*) {
  using P = ParameterDifference;
  static const Fields fields =
      describe<P>("parameter_difference", "A parameter whose values differ between two models.",
                  field<&P::name>("parameter", "Its name.", "Parameter"),
                  field<&P::elements>("elements", "Number of its elements.", "Elements"),
                  field<&P::differing>("differing", "Number of elements with different values.",
                                       "Different values"),
                  field<&P::largest>("largest", "Largest absolute difference; null: not a number.",
                                     "Largest difference")
                      .or_null());
  return fields;
}

std::int64_t GraphDifference::count(DifferenceKind kind) const {
  return std::ranges::count_if(differences, [&](const NodeDifference& one) {
    return one.kind == kind && one.what != "input" && one.what != "parameter" &&
           one.what != "output";
  });
}

GraphDifference difference(const Graph& first, const Graph& second) {
  const Pairs pairs = pairs_of(first, second);
  GraphDifference found;
  std::set<const Node*> paired;
  for (const auto& node : first.nodes()) {
    const auto pair = pairs.find(node.get());
    if (pair == pairs.end()) {
      found.differences.push_back(
          {DifferenceKind::only_in_first, node->name(), "", kind_text(*node)});
      continue;
    }
    const Node& other = *pair->second;
    paired.insert(&other);
    std::vector<std::string> changes = changes_of(*node, other);
    if (!has_matching_inputs(*node, other, pairs))
      changes.push_back(fmt::format("reads {} -> {}", inputs_text(*node), inputs_text(other)));
    if (!changes.empty()) {
      found.differences.push_back({DifferenceKind::changed, node->name(), other.name(),
                                   kind_text(*node), fmt::format("{}", fmt::join(changes, "; "))});
    } else if (node->kind() == NodeKind::operation) {
      ++found.equal_operations;
    }
  }
  for (const auto& node : second.nodes())
    if (!paired.contains(node.get()))
      found.differences.push_back(
          {DifferenceKind::only_in_second, "", node->name(), kind_text(*node)});
  compare_outputs(first, second, pairs, found.differences);
  return found;
}

ParameterDifferences difference(const ParameterStore& first, const ParameterStore& second) {
  ParameterDifferences found;
  for (const auto& [name, tensor] : first.tensors()) {
    if (!second.contains(name)) continue;
    const Tensor a = dense_on(tensor, cpu()), b = dense_on(second.at(name), cpu());
    if (a.sizes() != b.sizes() || a.dtype() != DType::f32 || b.dtype() != DType::f32) continue;
    ++found.compared;
    ParameterDifference one{.name = std::string(name), .elements = a.count()};
    const std::span<const float> x = a.values<float>(), y = b.values<float>();
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (std::bit_cast<std::uint32_t>(x[i]) == std::bit_cast<std::uint32_t>(y[i])) continue;
      ++one.differing;
      const double distance = std::abs(static_cast<double>(x[i]) - static_cast<double>(y[i]));
      if (!std::isnan(one.largest) && !(distance <= one.largest)) one.largest = distance;
    }
    if (one.differing > 0) found.differing.push_back(one);
  }
  return found;
}

}  // namespace hone
