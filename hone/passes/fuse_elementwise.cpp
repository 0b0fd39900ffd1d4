#include "hone/passes/fuse_elementwise.h"

#include <algorithm>
#include <set>

#include "hone/ops/of_formula.h"

namespace hone {
namespace {

// As many pointers and values as fit into the CPU's registers.
constexpr std::size_t kMaxOperands = 12, kMaxResults = 4;

using Positions = std::map<const Node*, std::size_t>;
using Members = std::set<Node*>;

Positions positions_of(const Graph& graph) {
  Positions positions;
  for (const auto& node : graph.nodes()) positions.emplace(node.get(), positions.size());
  return positions;
}

bool can_be_fused(const Node& node) {
  if (node.kind() != NodeKind::operation || node.op().formula == nullptr) return false;
  const auto fits = [](const Type& type) {
    return type.dtype == DType::f32 || type.dtype == DType::boolean;
  };
  return std::ranges::all_of(node.input_types(), fits) &&
         std::ranges::all_of(node.types(),
                             [](const Type& type) { return type.dtype == DType::f32; });
}

// Returns the members in the order of the graph.
std::vector<Node*> ordered(const Members& members, const Positions& positions) {
  std::vector<Node*> order(members.begin(), members.end());
  std::ranges::sort(order, {}, [&](const Node* node) { return positions.at(node); });
  return order;
}

// Returns the values that are outputs of the graph or have readers outside of the members.
std::vector<Value> results_of(const Graph& graph, const Members& members,
                              const Positions& positions) {
  std::vector<Value> results;
  for (Node* node : ordered(members, positions)) {
    for (int index = 0; index < static_cast<int>(node->types().size()); ++index) {
      const Value value = node->result(index);
      const auto reads = [&](Node* user) {
        return !members.contains(user) && std::ranges::count(user->inputs(), value) > 0;
      };
      const auto is_value = [&](const auto& output) { return output.second == value; };
      if (std::ranges::any_of(node->users(), reads) ||
          std::ranges::any_of(graph.outputs(), is_value))
        results.push_back(value);
    }
  }
  return results;
}

// Returns the values that members read from other nodes. Values whose memory the first result may reuse come first:
// those of its type without other readers.
std::vector<Value> operands_of(const Members& members, const Positions& positions) {
  std::vector<Value> operands;
  for (const Node* node : ordered(members, positions))
    for (const Value& input : node->inputs())
      if (!members.contains(input.node) && std::ranges::count(operands, input) == 0)
        operands.push_back(input);
  const Type& type = (*members.begin())->types()[0];
  const auto may_be_overwritten = [&](const Value& operand) {
    return operand.type() == type && operand.node->kind() == NodeKind::operation &&
           std::ranges::all_of(operand.node->users(),
                               [&](Node* user) { return members.contains(user); });
  };
  std::ranges::stable_partition(operands, may_be_overwritten);
  return operands;
}

/// Range of positions for the fused operation: after all its operands and before all its readers.
struct Gap {
  std::size_t last_operand = 0, first_reader = 0;
  bool is_open() const { return last_operand < first_reader; }
};

Gap gap_of(const Members& members, const Positions& positions) {
  Gap gap{0, positions.size()};
  for (const Node* node : members) {
    for (const Value& input : node->inputs())
      if (!members.contains(input.node))
        gap.last_operand = std::max(gap.last_operand, positions.at(input.node));
    for (Node* user : node->users())
      if (!members.contains(user))
        gap.first_reader = std::min(gap.first_reader, positions.at(user));
  }
  return gap;
}

// Returns the nodes that can be fused with `first`, including it, by adding neighbours until none fits.
Members grow_group(const Graph& graph, Node& first, const Positions& positions) {
  Members members = {&first};
  const auto take_in = [&](Node* node) {
    if (members.contains(node) || !can_be_fused(*node) || node->types()[0] != first.types()[0])
      return false;
    members.insert(node);
    if (gap_of(members, positions).is_open() &&
        operands_of(members, positions).size() <= kMaxOperands &&
        results_of(graph, members, positions).size() <= kMaxResults)
      return true;
    members.erase(node);
    return false;
  };
  bool grew = true;
  while (grew) {
    grew = false;
    for (Node* member : ordered(members, positions)) {
      for (const Value& input : member->inputs()) grew = take_in(input.node) || grew;
      const std::vector<Node*> users = member->users();
      for (Node* user : users) grew = take_in(user) || grew;
    }
  }
  return members;
}

FusedElementwise fuse(Graph& graph, const Members& members, const Positions& positions) {
  const std::vector<Node*> order = ordered(members, positions);
  const std::vector<Value> results = results_of(graph, members, positions),
                           operands = operands_of(members, positions);
  std::map<Value, Formula> formulas;
  for (std::size_t i = 0; i < operands.size(); ++i)
    formulas.emplace(operands[i], Formula::operand(i));
  for (Node* node : order) {
    std::vector<Formula> inputs;
    for (const Value& input : node->inputs()) inputs.push_back(formulas.at(input));
    const std::vector<Formula> own = node->op().formula(node->attributes(), inputs);
    for (std::size_t i = 0; i < own.size(); ++i)
      formulas.emplace(node->result(static_cast<int>(i)), own[i]);
  }
  std::vector<Formula> wanted;
  for (const Value& result : results) wanted.push_back(formulas.at(result));
  Elementwise fused = elementwise_of(wanted, operands);
  const std::size_t place =
      std::min(gap_of(members, positions).first_reader, positions.at(order.back()));
  const auto at = std::ranges::find(positions, place, &Positions::value_type::second);
  Node& node =
      graph.add_node("elementwise", std::move(fused.operands), {{"formula", fused.formula}},
                     order.back()->name() + ".fused", at->first);
  for (std::size_t i = 0; i < results.size(); ++i)
    graph.replace_uses(results[i], node.result(static_cast<int>(i)));
  FusedElementwise told{node.name(), {}};
  for (const Node* member : order) told.operations.push_back(member->name());
  for (auto last = order.rbegin(); last != order.rend(); ++last) graph.erase(**last);
  return told;
}

// A member may itself be the result of an earlier fusion.
void add(const FusedElementwise& one, std::vector<FusedElementwise>& fused) {
  FusedElementwise whole{one.node, {}};
  for (const std::string& member : one.operations) {
    const auto earlier = std::ranges::find(fused, member, &FusedElementwise::node);
    if (earlier == fused.end()) {
      whole.operations.push_back(member);
    } else {
      whole.operations.insert(whole.operations.end(), earlier->operations.begin(),
                              earlier->operations.end());
      fused.erase(earlier);
    }
  }
  fused.push_back(std::move(whole));
}

}  // namespace

bool fuse_elementwise(Graph& graph, std::vector<FusedElementwise>* fused) {
  std::set<std::string> alone;
  bool changed = false;
  while (true) {
    const Positions positions = positions_of(graph);
    Members members;
    for (Node* node : graph.of_kind(NodeKind::operation)) {
      if (!can_be_fused(*node) || !graph.is_read(*node) || alone.contains(node->name())) continue;
      members = grow_group(graph, *node, positions);
      if (members.size() > 1) break;
      alone.insert(node->name());
    }
    if (members.size() < 2) return changed;
    const FusedElementwise one = fuse(graph, members, positions);
    if (fused != nullptr) add(one, *fused);
    changed = true;
  }
}

PassDef fuse_elementwise_pass() {
  return {.name = "fuse_elementwise",
          .summary = "fuse consecutive element-wise operations",
          .of_runs = true,
          .run = [](Graph& graph, ParameterStore&, const Attributes&, const Session&) {
            return fuse_elementwise(graph);
          }};
}

}  // namespace hone
