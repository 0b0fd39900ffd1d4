#include "hone/passes/hoist_slices.h"

#include <algorithm>
#include <optional>

namespace hone {
namespace {

/// The axis along which each input is sliced; none: it is read whole.
using InputAxes = std::vector<std::optional<std::int64_t>>;

InputAxes only_first_input(const Node& node, std::int64_t axis) {
  InputAxes axes(node.inputs().size());
  axes[0] = axis;
  return axes;
}

// Inputs are aligned at their last axes; an input of extent 1 along the axis is broadcast. A state is read whole; a
// state with a value per element, such as a mask of a weight, prevents slicing.
std::optional<InputAxes> axes_of_broadcast(const Node& node, std::int64_t axis) {
  InputAxes axes;
  const Type& result = node.types()[0];
  for (const Value& input : node.inputs()) {
    const Type& type = input.type();
    const std::int64_t own = axis - result.rank() + type.rank();
    const bool is_state = operand_role(node, axes.size()) == OperandRole::state;
    if (is_state && type.shape == result.shape) return std::nullopt;
    const bool varies = own >= 0 && !(type.dim(own) == Dim(1)) && !is_state;
    axes.push_back(varies ? std::optional(own) : std::nullopt);
  }
  return axes;
}

// Handles a reshape that keeps all axes up to this one.
std::optional<InputAxes> axes_of_reshape(const Node& node, std::int64_t axis) {
  const Type from = node.input_types()[0], &to = node.types()[0];
  if (axis >= from.rank()) return std::nullopt;
  for (std::int64_t i = 0; i <= axis; ++i)
    if (!(from.dim(i) == to.dim(i))) return std::nullopt;
  return only_first_input(node, axis);
}

// Positions are counted in a tensor of the size of the limits, so a slice of the first ones has the same positions.
bool drops_same_positions(const Node& dropout, std::int64_t axis, std::int64_t begin) {
  const auto limits = dropout.attributes().get<Shape>("limits");
  return begin == 0 && !limits.empty() && limits[static_cast<std::size_t>(axis)].symbol == 0;
}

// Returns whether attention drops weights by the position of their query, or reads concatenated texts.
bool depends_on_query_position(const Node& attention) {
  const Attributes& attributes = attention.attributes();
  const auto* const p = std::get_if<double>(attributes.find("p"));
  const auto* const unpadded = std::get_if<bool>(attributes.find("unpadded"));
  return (p != nullptr && *p != 0) || (unpadded != nullptr && *unpadded);
}

// Returns none if an element of the result along `axis` depends on other elements of the inputs. The slice begins at
// `begin`.
std::optional<InputAxes> input_axes(const Node& node, std::int64_t axis, std::int64_t begin) {
  const std::int64_t rank = node.types()[0].rank();
  const bool in_row = axis == rank - 1;
  if (node.is("dropout") && !drops_same_positions(node, axis, begin)) return std::nullopt;
  if (node.trait() == Trait::element_wise) return axes_of_broadcast(node, axis);
  if (node.trait() == Trait::row_reduction && !in_row) return axes_of_broadcast(node, axis);
  if (node.is("linear") && !in_row) return only_first_input(node, axis);
  if (node.is("matmul") && axis == rank - 2)
    return only_first_input(node, node.input_types()[0].rank() - 2);
  if (node.is("attention") && axis == 1 && !depends_on_query_position(node))
    return only_first_input(node, axis);
  if (node.is("transpose"))
    return only_first_input(
        node, node.attributes().get<Shape>("axes")[static_cast<std::size_t>(axis)].size);
  if (node.is("reshape")) return axes_of_reshape(node, axis);
  return std::nullopt;
}

// Returns the slice that is the only use of the result, if there is one and it is smaller than the result.
const Node* only_slice(const Graph& graph, const Node& node) {
  const std::vector<Node*>& users = node.users();
  if (node.kind() != NodeKind::operation || node.types().size() != 1 || users.empty() ||
      graph.is_output(node))
    return nullptr;
  const Node& slice = *users.front();
  const auto is_alike = [&](const Node* user) {
    return user->is("slice") && user->attributes() == slice.attributes();
  };
  if (!std::ranges::all_of(users, is_alike) || slice.types()[0] == node.types()[0]) return nullptr;
  return &slice;
}

// Returns the next operation, before which a reader of this node can be inserted.
const Node* next_operation(const Graph& graph, const Node& node) {
  const auto& nodes = graph.nodes();
  auto at = std::ranges::find(nodes, &node, [](const auto& one) { return one.get(); });
  for (++at; at != nodes.end() && (*at)->kind() != NodeKind::operation;) ++at;
  return at == nodes.end() ? nullptr : at->get();
}

// Returns `value` sliced as by `slice`, along the given axis; reuses an existing slice.
Value cut(Graph& graph, Value value, std::int64_t axis, const Attributes& slice) {
  Attributes attributes = slice;
  attributes.set("axis", axis);
  for (Node* user : value.node->users())
    if (user->is("slice") && user->inputs()[0] == value && user->attributes() == attributes)
      return {user, 0};
  return graph.add("slice", {value}, attributes, value.node->name() + ".slice",
                   next_operation(graph, *value.node));
}

// Returns whether a quantizer has trainable states.
bool learns(const Node& node) {
  return node.is("quantize") && std::ranges::any_of(node.inputs(), [](const Value& input) {
           return input.node->kind() == NodeKind::parameter &&
                  input.node->role() == ParameterRole::format_state && input.node->trainable();
         });
}

bool hoist_over(Graph& graph, Node& node) {
  const Node* slice = only_slice(graph, node);
  if (slice == nullptr) return false;
  const Attributes how = slice->attributes();
  const std::optional<InputAxes> axes =
      input_axes(node, how.get<std::int64_t>("axis"), how.get<std::int64_t>("begin"));
  if (!axes) return false;
  std::vector<Value> inputs = node.inputs();
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if ((*axes)[i]) inputs[i] = cut(graph, inputs[i], *(*axes)[i], how);
  Attributes attributes = node.attributes();
  if (node.is("reshape")) attributes.set("shape", slice->types()[0].shape);
  const Value part =
      graph.add(node.op().name, std::move(inputs), attributes, node.name() + ".part", &node);
  while (!node.users().empty()) {
    Node& user = *node.users().front();
    graph.replace_uses({&user, 0}, part);
    graph.erase(user);
  }
  graph.erase(node);
  return true;
}

bool hoist_all(Graph& graph, bool include_trainable) {
  std::vector<Node*> operations = graph.of_kind(NodeKind::operation);
  // In reverse order, users come before their inputs. New slices come after the operation that they slice.
  bool changed = false;
  for (auto at = operations.rbegin(); at != operations.rend(); ++at)
    if (include_trainable || !learns(**at)) changed |= hoist_over(graph, **at);
  return changed;
}

}  // namespace

bool hoist_slices(Graph& graph) { return hoist_all(graph, /*include_trainable=*/true); }

bool hoist_slices_before_gradients(Graph& graph) {
  return hoist_all(graph, /*include_trainable=*/false);
}

PassDef hoist_slices_pass() {
  return {.name = "hoist_slices",
          .summary = "move slices before operations whose results are only partly used",
          .of_runs = true,
          .run = [](Graph& graph, ParameterStore&, const Attributes&, const Session&) {
            return hoist_slices(graph);
          }};
}

}  // namespace hone
