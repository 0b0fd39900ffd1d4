#include "hone/passes/quantize.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "hone/base/text.h"
#include "hone/ops/list.h"

namespace hone {
namespace {

std::string output_quantizer_name(const Node& node) { return node.name() + ".output_quantizer"; }

// Returns whether a quantizer rounds the output of the layer that computes its input.
bool is_output_quantizer(const Node& quantizer) {
  return quantizer.name() == output_quantizer_name(*quantizer.inputs()[0].node);
}

Node& layer_called(const Graph& graph, const std::string& name) {
  Node* node = graph.find(name);
  user_check(node != nullptr && node->kind() == NodeKind::operation,
             "the graph has no operation '{}' to quantize", name);
  return *node;
}

// Throws if one of these operands already has a format.
void check_free(const Node& node, const LayerFormats& formats) {
  const auto refuse = [&](Operand operand, const Node& quantizer) {
    fail(
        "%{}: its {} is already {} (%{}); exclude it, or start from the unquantized "
        "model{}",
        node.name(), to_string(operand), is_unpacked(quantizer) ? "packed" : "quantized",
        quantizer.name(),
        is_unpacked(quantizer) ? " (`hone unpack` restores fp32 weights with quantizers)" : "");
  };
  for (std::size_t i = 0; i < node.inputs().size(); ++i) {
    const Node& read = *node.inputs()[i].node;
    const std::optional<Operand> operand = operand_of(node, i);
    // An input may have been quantized as the output of another layer.
    if (operand && formats[*operand] && (is_quantizer(read) || is_unpacked(read)))
      refuse(*operand, read);
  }
  for (const Node* user : node.users())
    if (formats.output && is_quantizer(*user) && user->name() == output_quantizer_name(node))
      refuse(Operand::output, *user);
}

void check(const Graph& graph, const QuantizationPlan& plan) {
  for (const auto& [name, formats] : plan) {
    const Node& node = layer_called(graph, name);
    user_check(!is_quantizer(node), "%{} is a quantizer; name the layer that reads it", name);
    check_free(node, formats);
    for (const Operand operand : kOperands)
      user_check(!formats[operand] || has_operand(node, operand), "%{} ({}) has no {} to quantize",
                 name, node.op().name, to_string(operand));
    with_context(fmt::format("%{}", name), [&, &formats = formats] {
      for (std::size_t i = 0; i < node.inputs().size(); ++i) {
        const std::optional<Operand> operand = operand_of(node, i);
        if (operand && formats[*operand]) state_types(*formats[*operand], node.inputs()[i].type());
      }
      if (formats.output) state_types(*formats.output, node.types()[0]);
    });
  }
}

// Appends a number from 1 on to names in use. The states of a quantizer are named after it, so its name is chosen
// first.
std::string free_name(const Graph& graph, const std::string& wanted) {
  std::string name = wanted;
  for (int number = 1; graph.find(name) != nullptr; ++number)
    name = fmt::format("{}.{}", wanted, number);
  return name;
}

Value add_quantizer(Graph& graph, Value value, const std::string& wanted, const Format& format,
                    const Node* before) {
  const std::string name = free_name(graph, wanted);
  std::vector<Value> inputs = {value};
  const std::vector<FormatStateDef> states = states_of(format);
  const std::vector<Type> types = state_types(format, value.type());
  for (std::size_t i = 0; i < states.size(); ++i)
    inputs.push_back(graph.add_parameter(fmt::format("{}.{}", name, states[i].name), types[i],
                                         ParameterRole::format_state, states[i].learned));
  return graph.add(kQuantizer, std::move(inputs), {{"format", format}}, name, before);
}

/// The quantizers so far, by their input and format, including those of earlier plans that come before the current
/// node.
class Quantizers {
 public:
  explicit Quantizers(Graph& graph) : graph_(graph) {}

  /// Registers an existing quantizer, which comes before the nodes still to be visited.
  void register_existing(Node& quantizer) {
    of_.try_emplace(
        {quantizer.inputs()[0], to_string(quantizer.attributes().get<Format>("format"))},
        Value{&quantizer, 0});
  }

  void quantize_input(Node& node, std::size_t index, Operand operand, const Format& format) {
    const Value value = node.inputs()[index];
    Value& quantizer = of_[{value, to_string(format)}];
    if (!quantizer)
      quantizer = add_quantizer(graph_, value, name_for(node, operand, value), format, &node);
    graph_.set_input(node, index, quantizer);
  }

  void quantize_output(Node& node, const Format& format) {
    const Value value = {&node, 0};
    const Value quantizer =
        add_quantizer(graph_, value, output_quantizer_name(node), format, next_of(node));
    graph_.replace_uses(value, quantizer);
    graph_.set_input(*quantizer.node, 0, value);
  }

 private:
  // The quantizer of a second format of a parameter is named after its reader.
  std::string name_for(const Node& node, Operand operand, Value value) const {
    std::string shared = value.node->name() + ".quantizer";
    const bool parameter = value.node->kind() == NodeKind::parameter;
    if (parameter && graph_.find(shared) == nullptr) return shared;
    return fmt::format("{}.{}_quantizer", node.name(), to_string(operand));
  }
  const Node* next_of(const Node& node) const {
    const auto& nodes = graph_.nodes();
    const auto at = std::ranges::find(nodes, &node, [](const auto& n) { return n.get(); });
    return std::next(at) == nodes.end() ? nullptr : std::next(at)->get();
  }

  Graph& graph_;
  std::map<std::pair<Value, std::string>, Value> of_;
};

// Returns the formats of operands that the operation has.
LayerFormats present(const Node& node, const LayerFormats& formats) {
  LayerFormats present;
  for (const Operand operand : kOperands)
    if (has_operand(node, operand)) present[operand] = formats[operand];
  return present;
}

// Returns the plan that the options of the pass describe.
QuantizationPlan plan_of(const Graph& graph, const Attributes& options) {
  LayerFormats formats;
  for (const std::string& name : split(options.get<std::string>("operands"), ',')) {
    const auto named =
        std::ranges::find(kOperands, trim(name), [](Operand o) { return to_string(o); });
    user_check(named != std::end(kOperands),
               "operands: expected input, weight, bias or output, got '{}'", name);
    formats[*named] = options.get<Format>("format");
  }
  const std::vector<std::string> globs = split(options.get<std::string>("layers"), ',');
  const std::vector<std::string> ops = split(options.get<std::string>("op"), ',');
  QuantizationPlan plan;
  for (const Node* node : graph.of_kind(NodeKind::operation)) {
    const auto is_op = [&](const std::string& op) { return node->is(trim(op)); };
    const auto matches = [&](const std::string& glob) {
      return glob_match(trim(glob), node->name());
    };
    if (std::ranges::any_of(ops, is_op) && std::ranges::any_of(globs, matches))
      plan.emplace_back(node->name(), present(*node, formats));
  }
  user_check(!plan.empty(), "no operation {} matches layers '{}'", options.get<std::string>("op"),
             options.get<std::string>("layers"));
  return plan;
}

/// Layers whose same operands have the same format.
struct Group {
  Format format;
  std::vector<Operand> operands;
  std::set<const Node*> layers;

  bool has(const Node& node) const {
    return std::ranges::any_of(operands, [&](Operand o) { return has_operand(node, o); });
  }
  /// Merges another group if the description of both stays exact. Returns whether it did.
  bool take(const Group& other) {
    if (!(format == other.format)) return false;
    std::set<const Node*> both = layers;
    both.insert(other.layers.begin(), other.layers.end());
    const auto is_all = [&](const std::vector<Operand>& named, const std::set<const Node*>& of) {
      return std::ranges::all_of(both, [&](const Node* node) {
        return of.contains(node) ||
               std::ranges::none_of(named, [&](Operand o) { return has_operand(*node, o); });
      });
    };
    if (!is_all(operands, layers) || !is_all(other.operands, other.layers)) return false;
    operands.insert(operands.end(), other.operands.begin(), other.operands.end());
    layers = std::move(both);
    return true;
  }
};

std::vector<Group> groups_of(const Graph& graph, const QuantizationPlan& plan) {
  std::vector<Group> groups;
  for (const Operand operand : kOperands) {
    std::vector<Group> of_operand;
    for (const auto& [name, formats] : plan) {
      const Node* node = graph.find(name);
      if (!formats[operand] || node == nullptr || !has_operand(*node, operand)) continue;
      auto group = std::ranges::find(of_operand, *formats[operand], &Group::format);
      if (group == of_operand.end())
        group = of_operand.insert(group, {*formats[operand], {operand}, {}});
      group->layers.insert(node);
    }
    for (Group& group : of_operand)
      if (std::ranges::none_of(groups, [&](Group& other) { return other.take(group); }))
        groups.push_back(std::move(group));
  }
  return groups;
}

// Returns a glob for one name; a comma would end it.
std::string glob_of(std::string name) {
  std::ranges::replace(name, ',', '?');
  return name;
}

Attributes options_of(const Graph& graph, const Group& group) {
  std::vector<std::string> ops, names, operands;
  for (const Node* node : graph.of_kind(NodeKind::operation)) {
    if (!group.layers.contains(node)) continue;
    names.push_back(glob_of(node->name()));
    if (std::ranges::find(ops, node->op().name) == ops.end()) ops.emplace_back(node->op().name);
  }
  const auto others = [&](const Node* node) {
    return std::ranges::find(ops, node->op().name) != ops.end() && group.has(*node) &&
           !group.layers.contains(node);
  };
  const bool all = std::ranges::none_of(graph.of_kind(NodeKind::operation), others);
  for (const Operand operand : group.operands) operands.emplace_back(to_string(operand));
  // Adding a bias that no layer has makes no difference.
  if (operands == std::vector<std::string>{"input", "weight"} &&
      std::ranges::none_of(group.layers,
                           [](const Node* node) { return has_operand(*node, Operand::bias); }))
    operands.emplace_back("bias");
  return {{"format", group.format},
          {"layers", all ? "*" : fmt::format("{}", fmt::join(names, ","))},
          {"op", fmt::format("{}", fmt::join(ops, ","))},
          {"operands", fmt::format("{}", fmt::join(operands, ","))}};
}

// Adapters are trained in full precision next to quantized weights.
bool reads_adapter(const Node& node) {
  return std::ranges::any_of(node.inputs(), [](const Value& input) {
    return input.node->kind() == NodeKind::parameter &&
           input.node->role() == ParameterRole::adapter;
  });
}

}  // namespace

bool is_quantizer(const Node& node) { return node.is(kQuantizer); }

bool is_unpacked(const Node& node) { return node.is(kUnpack); }

std::optional<Operand> operand_of(const Node& node, std::size_t index) {
  Value value = node.inputs()[index];
  if (value.type().dtype != DType::f32 || reads_adapter(node)) return std::nullopt;
  while (is_quantizer(*value.node)) value = value.node->inputs()[0];
  switch (operand_role(node, index)) {
    case OperandRole::weight:
      return Operand::weight;
    case OperandRole::bias:
      return Operand::bias;
    case OperandRole::state:
      return std::nullopt;
    case OperandRole::input:
      break;
  }
  const bool packed = is_unpacked(*value.node);
  if (value.node->kind() != NodeKind::parameter && !packed) return Operand::input;
  // If an operation reads it as a plain input, a parameter has its role in the model.
  switch (packed ? parse_parameter_role(value.node->attributes().get<std::string>("role"))
                 : value.node->role()) {
    case ParameterRole::weight:
    case ParameterRole::gain:
      return Operand::weight;
    case ParameterRole::bias:
      return Operand::bias;
    default:
      return std::nullopt;
  }
}

bool has_operand(const Node& node, Operand operand) {
  if (operand == Operand::output)
    return node.types()[0].dtype == DType::f32 && !reads_adapter(node);
  for (std::size_t i = 0; i < node.inputs().size(); ++i)
    if (operand_of(node, i) == operand) return true;
  return false;
}

bool is_default_layer(const Node& node) {
  return node.kind() == NodeKind::operation &&
         std::ranges::find(kDefaultLayers, node.op().name) != std::end(kDefaultLayers);
}

QuantizationPlan uniform_plan(const Graph& graph, const LayerFormats& formats,
                              std::string_view op) {
  QuantizationPlan plan;
  for (const Node* node : graph.of_kind(NodeKind::operation)) {
    if (op.empty() ? !is_default_layer(*node) : !node->is(op)) continue;
    plan.emplace_back(node->name(), present(*node, formats));
  }
  return plan;
}

bool quantize(Graph& graph, const QuantizationPlan& plan) {
  check(graph, plan);
  std::map<const Node*, const LayerFormats*> formats_of;
  for (const auto& [name, formats] : plan) formats_of[graph.find(name)] = &formats;
  Quantizers quantizers(graph);
  bool changed = false;
  // Visits the graph's order, not the plan's, so that a shared value is quantized before its first reader.
  for (Node* const layer : graph.of_kind(NodeKind::operation)) {
    if (is_quantizer(*layer)) quantizers.register_existing(*layer);
    if (!formats_of.contains(layer)) continue;
    const LayerFormats& formats = *formats_of[layer];
    Node& node = *layer;
    for (std::size_t i = 0; i < node.inputs().size(); ++i) {
      const std::optional<Operand> operand = operand_of(node, i);
      if (!operand || !formats[*operand]) continue;
      quantizers.quantize_input(node, i, *operand, *formats[*operand]);
      changed = true;
    }
    if (!formats.output) continue;
    quantizers.quantize_output(node, *formats.output);
    changed = true;
  }
  return changed;
}

bool has_quantizers(const Graph& graph) {
  return std::ranges::any_of(
      graph.nodes(), [](const auto& node) { return is_quantizer(*node) || is_unpacked(*node); });
}

std::string_view arithmetic_of(const Graph& graph) {
  const auto any = [&](bool (*is)(const Node&)) {
    return std::ranges::any_of(graph.nodes(), [&](const auto& node) { return is(*node); });
  };
  return any(is_unpacked) ? kPacked : any(is_quantizer) ? kSimulated : kFloat;
}

std::vector<std::string> quantize_passes(const Graph& graph, const QuantizationPlan& plan) {
  const PassDef def = quantize_pass();
  std::vector<std::string> texts;
  for (const Group& group : groups_of(graph, plan))
    texts.push_back(to_string(Pass{&def, options_of(graph, group)}));
  return texts;
}

QuantizationPlan current_plan(const Graph& graph) {
  QuantizationPlan plan;
  for (const Node* node : graph.of_kind(NodeKind::operation)) {
    if (is_quantizer(*node) || is_unpacked(*node)) continue;
    LayerFormats formats;
    for (std::size_t i = 0; i < node->inputs().size(); ++i) {
      const Node& read = *node->inputs()[i].node;
      const std::optional<Operand> operand = operand_of(*node, i);
      if (operand && (is_unpacked(read) || (is_quantizer(read) && !is_output_quantizer(read))))
        formats[*operand] = read.attributes().get<Format>("format");
    }
    for (const Node* user : node->users())
      if (is_quantizer(*user) && is_output_quantizer(*user))
        formats.output = user->attributes().get<Format>("format");
    if (formats != LayerFormats{}) plan.emplace_back(node->name(), formats);
  }
  return plan;
}

std::set<std::string> quantizer_names(const Graph& graph) {
  std::set<std::string> names;
  for (const Node* node : graph.of_kind(NodeKind::operation))
    if (is_quantizer(*node)) names.insert(node->name());
  return names;
}

bool remove_quantizers(Graph& graph, const std::set<std::string>& kept) {
  bool changed = false;
  for (Node* node : graph.of_kind(NodeKind::operation)) {
    if (!is_quantizer(*node) || kept.contains(node->name())) continue;
    const std::vector<Value> inputs = node->inputs();
    graph.replace_uses({node, 0}, inputs[0]);
    graph.erase(*node);
    for (std::size_t i = 1; i < inputs.size(); ++i) {
      Node& state = *inputs[i].node;
      if (state.kind() == NodeKind::parameter && state.users().empty() && !graph.is_output(state))
        graph.erase(state);
    }
    changed = true;
  }
  return changed;
}

PassDef quantize_pass() {
  return {.name = "quantize",
          .summary = "insert quantizers of one format; they need calibration",
          .options = {{"format", "number format", Format{}, true},
                      {"layers", "globs over operations, separated by commas", std::string("*")},
                      {"op", "kinds of operations, separated by commas", std::string("linear")},
                      {"operands", "input, weight, bias, output, separated by commas",
                       std::string("input,weight,bias")}},
          .example = "format=bf16 layers=*.query operands=weight",
          .run = [](Graph& graph, ParameterStore&, const Attributes& options, const Session&) {
            return quantize(graph, plan_of(graph, options));
          }};
}

PassDef remove_quantizers_pass() {
  return {.name = "remove_quantizers",
          .summary = "remove every quantizer",
          .run = [](Graph& graph, ParameterStore&, const Attributes&, const Session&) {
            return remove_quantizers(graph);
          }};
}

}  // namespace hone
