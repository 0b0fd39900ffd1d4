#include "hone/passes/quantize.h"

#include <map>

namespace hone {
namespace {

bool is_quantizer(const Node& node) { return node.is("quantize"); }

Value add_quantizer(Graph& graph, Value value, const std::string& name, const Format& format,
                    const Node& before) {
  std::vector<Value> inputs = {value};
  if (format.def->state != nullptr) {
    for (const FormatStateDef& state : format.def->state(format)) {
      const Type type{DType::f32, Shape(state.sizes.begin(), state.sizes.end())};
      inputs.push_back(
          graph.add_parameter(name + "." + std::string(state.name), type, /*trainable=*/false));
    }
  }
  return graph.add("quantize", std::move(inputs), {{"format", format}}, name, &before);
}

}  // namespace

bool quantize(Graph& graph, const Format& format) {
  std::map<Value, Value> quantized;
  for (Node* node : graph.of_kind(NodeKind::operation)) {
    user_check(!is_quantizer(*node),
               "the graph is quantized already (%{}); start from the unquantized one",
               node->name());
    if (!node->is("linear")) continue;
    for (std::size_t i = 0; i < node->inputs().size(); ++i) {
      const Value value = node->inputs()[i];
      Value& replacement = quantized[value];
      if (!replacement) {
        const bool parameter = value.node->kind() == NodeKind::parameter;
        const std::string name =
            parameter ? value.node->name() + ".quantizer" : node->name() + ".input_quantizer";
        replacement = add_quantizer(graph, value, name, format, *node);
      }
      graph.set_input(*node, i, replacement);
    }
  }
  return !quantized.empty();
}

std::vector<std::string> quantized_modules(const Graph& graph) {
  std::vector<std::string> names;
  for (const Node* node : graph.of_kind(NodeKind::operation)) {
    bool reads_quantizer = false;
    for (const Value& input : node->inputs())
      reads_quantizer = reads_quantizer || is_quantizer(*input.node);
    if (reads_quantizer && !is_quantizer(*node)) names.push_back(node->name());
  }
  return names;
}

}  // namespace hone
