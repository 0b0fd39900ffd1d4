#include "hone/analysis/precision.h"

#include <set>

#include "hone/passes/quantize.h"

namespace hone {

std::vector<PlannedTensor> planned_tensors(const Graph& graph, const QuantizationPlan& plan,
                                           const Bindings& bindings) {
  std::vector<PlannedTensor> tensors;
  for (const auto& [name, formats] : plan) {
    const Node* node = graph.find(name);
    user_check(node != nullptr, "the graph has no operation '{}'", name);
    const auto add = [&, &layer = name](Operand operand, Value value, const Format& format) {
      const Sizes sizes = resolve(value.type().shape, bindings);
      tensors.push_back({layer, node->op().name, operand, value.node->name(), sizes, format,
                         average_bits(format, sizes)});
    };
    for (std::size_t i = 0; i < node->inputs().size(); ++i) {
      const std::optional<Operand> operand = operand_of(*node, i);
      if (operand && formats[*operand]) add(*operand, node->inputs()[i], *formats[*operand]);
    }
    if (formats.output) add(Operand::output, {const_cast<Node*>(node), 0}, *formats.output);
  }
  return tensors;
}

double PlannedSize::average_weight_bits() const {
  return quantized_parameters == 0 ? 32
                                   : quantized_bits / static_cast<double>(quantized_parameters);
}

namespace {

// Rows by their numbers, or, as positions are the same for every text, the first rows.
bool takes_a_part(const Node& node, const Value& table, const Bindings& bindings) {
  const auto elements = [&](const Type& type) {
    return element_count(resolve(type.shape, bindings));
  };
  return node.op().trait == Trait::gather ||
         (node.op().trait == Trait::view && elements(node.types()[0]) < elements(table.type()));
}

// Inputs and outputs have symbols; any value does where only parameters count.
Bindings ones() {
  Bindings bindings;
  for (char letter = 'A'; letter <= 'Z'; ++letter) bindings[letter] = 1;
  return bindings;
}

}  // namespace

std::set<std::string> table_parameters(const Graph& graph) {
  const Bindings bindings = ones();
  std::set<std::string> tables;
  for (const Node* node : graph.of_kind(NodeKind::operation))
    for (const Value& input : node->inputs())
      if (input.node->kind() == NodeKind::parameter && takes_a_part(*node, input, bindings))
        tables.insert(input.node->name());
  return tables;
}

PlannedSize planned_size(const Graph& graph, const QuantizationPlan& plan) {
  PlannedSize size;
  for (const Node* parameter : graph.of_kind(NodeKind::parameter))
    if (info(parameter->role()).counted)
      size.parameters += element_count(resolve(parameter->types()[0].shape, {}));
  const std::set<std::string> tables = table_parameters(graph);
  for (const std::string& table : tables)
    size.embedding_bits +=
        32.0 * static_cast<double>(element_count(resolve(graph.find(table)->types()[0].shape, {})));
  std::set<std::string> counted;
  for (const PlannedTensor& tensor : planned_tensors(graph, plan, ones())) {
    const bool parameter = tensor.operand == Operand::weight || tensor.operand == Operand::bias;
    if (!parameter || !counted.insert(tensor.tensor).second) continue;
    const std::int64_t elements = element_count(tensor.sizes);
    size.quantized_parameters += elements;
    size.quantized_bits += tensor.average_bits * static_cast<double>(elements);
    if (!tables.contains(tensor.tensor)) continue;
    size.embeddings_quantized = true;
    size.embedding_bits += (tensor.average_bits - 32) * static_cast<double>(elements);
  }
  size.bits =
      size.quantized_bits + 32.0 * static_cast<double>(size.parameters - size.quantized_parameters);
  return size;
}

}  // namespace hone
