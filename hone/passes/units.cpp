#include "hone/passes/units.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "hone/base/error.h"
#include "hone/passes/rebuild.h"

namespace hone {
namespace {

using Extents = std::vector<UnitGroup::Extent>;

bool is_linear(const Node& node) { return node.is("linear"); }

bool has_one_reader(const Graph& graph, const Node& node) {
  return node.users().size() == 1 && !graph.is_output(node);
}

// Collects the shape attributes of a node that contain `count` at an axis of its result.
void note_extents(Node& node, std::size_t axis, std::int64_t count, bool elements,
                  Extents& extents) {
  for (const auto& [name, value] : node.attributes().items()) {
    const auto* shape = std::get_if<Shape>(&value);
    if (shape != nullptr && std::ssize(*shape) == node.types()[0].rank() &&
        (*shape)[axis] == Dim(count))
      extents.push_back({&node, name, axis, elements});
  }
}

// Returns the input of an element-wise operation, or with `rows` a row-wise one, that has the type of its output.
std::optional<Value> elementwise_input(const Node& node, bool rows = false) {
  if (node.kind() != NodeKind::operation || node.types().size() != 1) return std::nullopt;
  if (node.trait() != Trait::element_wise && !(rows && node.trait() == Trait::row_reduction))
    return std::nullopt;
  std::optional<Value> found;
  for (const Value& input : node.inputs()) {
    if (input.type() != node.types()[0]) continue;
    if (found) return std::nullopt;  // two operands of the same type
    found = input;
  }
  return found;
}

void check_own_parameters(const Node& linear) {
  for (std::size_t i = 1; i < linear.inputs().size(); ++i) {
    const Node& read = *linear.inputs()[i].node;
    if (read.kind() != NodeKind::parameter)
      fail(
          "%{}: it reads its weight through %{}{}, so its rows cannot be removed; start "
          "from the model without that operation",
          linear.name(), read.name(),
          read.kind() == NodeKind::operation ? fmt::format(" ({})", read.op().name) : "");
    user_check(read.users().size() == 1,
               "%{}: {} is also read by another operation, so its rows cannot be removed",
               linear.name(), read.name());
  }
}

/// Heads that a linear makes: (B, S, N D) split into (B, S, N, D).
struct Split {
  Node* linear;
  Node* split;
};

// Returns the linear that computes the value, and the reshape that splits its last axis into heads.
std::optional<Split> split_of(const Graph& graph, Value value) {
  Node* node = value.node;
  if (node->is("transpose") && has_one_reader(graph, *node)) node = node->inputs()[0].node;
  if (!node->is("reshape") || !has_one_reader(graph, *node) || node->types()[0].rank() != 4)
    return std::nullopt;
  Value from = node->inputs()[0];
  while (!is_linear(*from.node)) {
    const std::optional<Value> before = elementwise_input(*from.node);
    if (!before || !has_one_reader(graph, *from.node)) return std::nullopt;
    from = *before;
  }
  if (!has_one_reader(graph, *from.node) || from.type().rank() != 3) return std::nullopt;
  return Split{from.node, node};
}

// The linear that reads the joined values of all heads; (B, N, S, D) or (B, S, N, D) before.
struct Joined {
  Node* join;
  Node* linear;
};
std::optional<Joined> find_join_after(const Graph& graph, const Node& context) {
  const Node* last = &context;
  Node* next = has_one_reader(graph, *last) ? last->users()[0] : nullptr;
  if (next != nullptr && next->is("transpose") && has_one_reader(graph, *next))
    next = next->users()[0];
  if (next == nullptr || !next->is("reshape") || next->types()[0].rank() != 3 ||
      !has_one_reader(graph, *next))
    return std::nullopt;
  Node* reader = next->users()[0];
  while (!is_linear(*reader)) {
    if (!elementwise_input(*reader) || !has_one_reader(graph, *reader)) return std::nullopt;
    reader = reader->users()[0];
  }
  return Joined{next, reader};
}

// Returns the attention whose last step is `context`: a product of softmax scores and values, or a fused attention.
std::optional<UnitGroup> heads_of(const Graph& graph, Node& context) {
  UnitGroup group{.kind = UnitKind::heads};
  std::vector<Value> sources;
  if (context.is("attention")) {
    sources.assign(context.inputs().begin(), context.inputs().begin() + 3);
  } else {
    if (!context.is("matmul") || context.types()[0].rank() != 4) return std::nullopt;
    const std::int64_t heads = context.types()[0].dim(1).size;
    Value scores = context.inputs()[0];
    for (; !scores.node->is("matmul"); scores = *elementwise_input(*scores.node, /*rows=*/true)) {
      if (!elementwise_input(*scores.node, /*rows=*/true) || !has_one_reader(graph, *scores.node))
        return std::nullopt;
      note_extents(*scores.node, 1, heads, /*elements=*/false, group.extents);
    }
    if (!has_one_reader(graph, *scores.node)) return std::nullopt;
    sources = {scores.node->inputs()[0], scores.node->inputs()[1], context.inputs()[1]};
  }
  const std::optional<Joined> joined = find_join_after(graph, context);
  if (!joined) return std::nullopt;
  for (const Value& source : sources) {
    const std::optional<Split> split = split_of(graph, source);
    if (!split) return std::nullopt;
    const Type& type = split->split->types()[0];  // (B, S, N, D)
    group.count = type.dim(2).size;
    group.width = type.dim(3).size;
    group.makers.push_back(split->linear);
    note_extents(*split->split, 2, group.count, /*elements=*/false, group.extents);
  }
  group.reader = joined->linear;
  note_extents(*joined->join, 2, group.count * group.width, /*elements=*/true, group.extents);
  return group;
}

bool is_added_to(const Graph& graph, const Node& reader, Value skipped) {
  const Node* node = &reader;
  while (has_one_reader(graph, *node)) {
    const Node* user = node->users()[0];
    if (user->is("add")) return std::ranges::find(user->inputs(), skipped) != user->inputs().end();
    if (!elementwise_input(*user)) return false;
    node = user;
  }
  return false;
}

std::optional<UnitGroup> neurons_of(const Graph& graph, Node& maker) {
  if (!is_linear(maker) || maker.types()[0].rank() != 3) return std::nullopt;
  UnitGroup group{
      .kind = UnitKind::neurons, .count = maker.types()[0].dim(-1).size, .makers = {&maker}};
  Node* node = &maker;
  while (node == &maker || !is_linear(*node)) {
    if (!has_one_reader(graph, *node)) return std::nullopt;
    node = node->users()[0];
    if (is_linear(*node)) break;
    if (!elementwise_input(*node)) return std::nullopt;
    note_extents(*node, 2, group.count, /*elements=*/true, group.extents);
  }
  group.reader = node;
  return is_added_to(graph, *node, maker.inputs()[0]) ? std::optional(group) : std::nullopt;
}

// Returns the elements of these units along an axis of units of `width`.
std::vector<std::int64_t> elements_of(const std::vector<std::int64_t>& units, std::int64_t width) {
  std::vector<std::int64_t> elements;
  for (const std::int64_t unit : units)
    for (std::int64_t i = 0; i < width; ++i) elements.push_back(unit * width + i);
  return elements;
}

// Selects the elements `chosen` along the first or the last axis.
Tensor chosen_along(const Tensor& tensor, bool first, const std::vector<std::int64_t>& chosen) {
  const Tensor host = tensor.on(cpu());
  Sizes sizes = host.sizes();
  const std::int64_t axis = first ? 0 : host.rank() - 1, before = host.size(axis);
  sizes[static_cast<std::size_t>(axis)] = std::ssize(chosen);
  const std::int64_t inner = first ? host.count() / std::max<std::int64_t>(before, 1) : 1;
  const std::int64_t outer = first ? 1 : host.count() / std::max<std::int64_t>(before, 1);
  Tensor result = Tensor::empty(DType::f32, sizes);
  const float* from = host.values<float>().data();
  float* to = result.values<float>().data();
  for (std::int64_t o = 0; o < outer; ++o)
    for (const std::int64_t c : chosen)
      to = std::copy_n(from + (o * before + c) * inner, inner, to);
  return result.on(tensor.device());
}

void keep_in(const UnitGroup& group, const std::vector<std::int64_t>& kept, GraphChanges& changes,
             ParameterStore& parameters) {
  const std::vector<std::int64_t> elements = elements_of(kept, group.width);
  const auto cut = [&](const Node& parameter, bool rows) {
    Type type = parameter.types()[0];
    type.shape[rows ? 0 : static_cast<std::size_t>(type.rank() - 1)] = std::ssize(elements);
    changes.types.emplace(parameter.name(), type);
    if (parameters.contains(parameter.name()))
      parameters.set(parameter.name(),
                     chosen_along(parameters.at(parameter.name()), rows, elements));
  };
  for (const Node* maker : group.makers)
    for (std::size_t i = 1; i < maker->inputs().size(); ++i)
      cut(*maker->inputs()[i].node, /*rows=*/true);
  cut(*group.reader->inputs()[1].node, /*rows=*/false);
  for (const UnitGroup::Extent& extent : group.extents) {
    Attributes& attributes =
        changes.attributes.try_emplace(extent.node->name(), extent.node->attributes())
            .first->second;
    Shape shape = attributes.get<Shape>(extent.attribute);
    shape[extent.axis] = extent.elements ? std::ssize(elements) : std::ssize(kept);
    attributes.set(extent.attribute, shape);
  }
}

}  // namespace

std::string_view to_string(UnitKind kind) { return kind == UnitKind::heads ? "heads" : "neurons"; }

std::span<const EnumName> enum_names(UnitScope) {
  static constexpr EnumName kWords[] = {{static_cast<int>(UnitScope::local), "local"},
                                        {static_cast<int>(UnitScope::global), "global"}};
  return kWords;
}

std::vector<UnitGroup> unit_groups(const Graph& graph, UnitKind kind) {
  std::vector<UnitGroup> groups;
  for (Node* node : graph.of_kind(NodeKind::operation)) {
    std::optional<UnitGroup> group =
        kind == UnitKind::heads ? heads_of(graph, *node) : neurons_of(graph, *node);
    if (!group) continue;
    for (const Node* maker : group->makers) check_own_parameters(*maker);
    check_own_parameters(*group->reader);
    groups.push_back(std::move(*group));
  }
  return groups;
}

bool keep_units(Graph& graph, ParameterStore& parameters, const std::vector<UnitGroup>& groups,
                const KeptUnits& kept) {
  HONE_ASSERT(groups.size() == kept.size(), "units of {} groups for {}", kept.size(),
              groups.size());
  GraphChanges changes;
  for (std::size_t g = 0; g < groups.size(); ++g)
    if (std::ssize(kept[g]) < groups[g].count) keep_in(groups[g], kept[g], changes, parameters);
  if (changes.types.empty()) return false;
  graph = rebuilt(graph, changes);
  return true;
}

std::vector<double> unit_magnitudes(const UnitGroup& group, const ParameterStore& parameters,
                                    int power) {
  std::vector<double> sums(static_cast<std::size_t>(group.count));
  const auto magnitude = [&](float w) {
    const double value = std::abs(static_cast<double>(w));
    return power == 1 ? value : value * value;
  };
  for (const Node* maker : group.makers) {  // (count width, K)
    const Tensor weight = parameters.at(maker->inputs()[1].node->name()).on(cpu());
    const std::span<const float> values = weight.values<float>();
    const std::size_t per_unit = values.size() / sums.size();
    for (std::size_t i = 0; i < values.size(); ++i) sums[i / per_unit] += magnitude(values[i]);
  }
  const Tensor weight = parameters.at(group.reader->inputs()[1].node->name()).on(cpu());
  const std::span<const float> values = weight.values<float>();  // (N, count width)
  const auto columns = static_cast<std::size_t>(weight.size(-1));
  for (std::size_t i = 0; i < values.size(); ++i)
    sums[i % columns / static_cast<std::size_t>(group.width)] += magnitude(values[i]);
  if (power == 2)
    for (double& sum : sums) sum = std::sqrt(sum);
  return sums;
}

KeptUnits choose_units(const std::vector<std::vector<double>>& scores, double sparsity,
                       UnitScope scope) {
  user_check(sparsity >= 0 && sparsity < 1, "sparsity: expected a share from 0 to below 1, got {}",
             sparsity);
  struct Unit {
    std::size_t group;
    std::int64_t number;
    double score;
  };
  std::vector<std::vector<Unit>> rounds;  // units that are compared
  for (std::size_t g = 0; g < scores.size(); ++g) {
    if (scope == UnitScope::local || rounds.empty()) rounds.emplace_back();
    for (std::size_t i = 0; i < scores[g].size(); ++i)
      rounds.back().push_back({g, static_cast<std::int64_t>(i), scores[g][i]});
  }
  std::vector<std::int64_t> left;
  std::vector<std::vector<char>> goes;
  for (const auto& group : scores) {
    left.push_back(std::ssize(group));
    goes.emplace_back(group.size());
  }
  for (std::vector<Unit>& units : rounds) {
    std::int64_t rest = std::llround(sparsity * static_cast<double>(units.size()));
    std::ranges::stable_sort(units, {}, &Unit::score);
    for (const Unit& unit : units) {
      if (rest == 0) break;
      if (left[unit.group] == 1) continue;
      goes[unit.group][static_cast<std::size_t>(unit.number)] = 1;
      --left[unit.group];
      --rest;
    }
  }
  KeptUnits kept(scores.size());
  for (std::size_t g = 0; g < scores.size(); ++g)
    for (std::size_t i = 0; i < goes[g].size(); ++i)
      if (!goes[g][i]) kept[g].push_back(static_cast<std::int64_t>(i));
  return kept;
}

}  // namespace hone
