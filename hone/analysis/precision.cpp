#include "hone/analysis/precision.h"

#include <algorithm>
#include <map>
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

namespace {

// Returns whether a node reads part of the table: rows by number, or the first rows, such as positions.
bool reads_part(const Node& node, const Value& table, const Bindings& bindings) {
  const auto elements = [&](const Type& type) {
    return element_count(resolve(type.shape, bindings));
  };
  return node.op().trait == Trait::gather ||
         (node.op().trait == Trait::view && elements(node.types()[0]) < elements(table.type()));
}

// Binds every symbol to 1, which is enough when only parameters matter.
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
      if (input.node->kind() == NodeKind::parameter && reads_part(*node, input, bindings))
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

namespace {

double counted_bits(const PlannedTensor& tensor, BitCount count) {
  if (count == BitCount::stored) return tensor.average_bits;
  const auto has = [&](std::string_view name) {
    return std::ranges::find(tensor.format.def->parameters, name, &FormatParameterDef::name) !=
           tensor.format.def->parameters.end();
  };
  return has("width") && has("frac") && tensor.format["frac"] != kAuto
             ? static_cast<double>(tensor.format["width"] + tensor.format["frac"])
             : tensor.average_bits;
}

void add(WeightBits& sum, double elements, double bits_each) {
  sum.elements += elements;
  sum.bits += elements * bits_each;
}

}  // namespace

WeightBits weight_bits(const Graph& graph, const QuantizationPlan& plan,
                       const std::vector<std::string>& layers, const LayerSparsities& sparsities,
                       BitCount count) {
  std::map<std::string, double> bits;  // by the name of the tensor
  for (const PlannedTensor& tensor : planned_tensors(graph, plan, ones()))
    if (tensor.operand == Operand::weight) bits.emplace(tensor.tensor, counted_bits(tensor, count));
  const std::map<std::string, LayerSparsity> pruned(sparsities.begin(), sparsities.end());
  WeightBits sum;
  std::set<std::string> counted;
  for (const Node* node : graph.of_kind(NodeKind::operation)) {
    const bool counts = layers.empty() ? node->op().trait == Trait::contraction
                                       : std::ranges::find(layers, node->name()) != layers.end();
    for (std::size_t i = 0; counts && i < node->inputs().size(); ++i) {
      const Value& value = node->inputs()[i];
      if (operand_of(*node, i) != Operand::weight || !counted.insert(value.node->name()).second)
        continue;
      const auto format = bits.find(value.node->name());
      const auto zeros = pruned.find(node->name());
      const double each = format == bits.end() ? 32 : format->second;
      add(sum, static_cast<double>(element_count(resolve(value.type().shape, ones()))),
          zeros == pruned.end() ? each : sparse_bits(each, zeros->second));
    }
  }
  return sum;
}

AverageBits average_bits(const Graph& graph, const QuantizationPlan& plan, const Bindings& bindings,
                         BitCount count) {
  std::map<std::string, double> of_parameters, of_outputs;       // by the name of the tensor
  std::map<std::pair<std::string, std::string>, double> inputs;  // by layer and tensor
  for (const PlannedTensor& tensor : planned_tensors(graph, plan, bindings)) {
    const double bits = counted_bits(tensor, count);
    if (tensor.operand == Operand::output)
      of_outputs.emplace(tensor.tensor, bits);
    else if (tensor.operand == Operand::input)
      inputs.emplace(std::pair(tensor.layer, tensor.tensor), bits);
    else
      of_parameters.emplace(tensor.tensor, bits);
  }
  AverageBits result;
  WeightBits parameters, data;
  for (const Node* parameter : graph.of_kind(NodeKind::parameter)) {
    if (!info(parameter->role()).counted) continue;
    const std::int64_t elements = element_count(resolve(parameter->types()[0].shape, {}));
    const auto found = of_parameters.find(parameter->name());
    add(parameters, static_cast<double>(elements),
        found == of_parameters.end() ? 32 : found->second);
    result.parameters += elements;
    if (found != of_parameters.end()) result.quantized_parameters += elements;
  }
  for (const Node* node : graph.of_kind(NodeKind::operation)) {
    if (node->op().trait != Trait::contraction) continue;
    for (std::size_t i = 0; i < node->inputs().size(); ++i) {
      if (operand_of(*node, i) != Operand::input) continue;
      const Value& value = node->inputs()[i];
      const auto as_input = inputs.find({node->name(), value.node->name()});
      const auto as_output = of_outputs.find(value.node->name());
      add(data, static_cast<double>(element_count(resolve(value.type().shape, bindings))),
          as_input != inputs.end()        ? as_input->second
          : as_output != of_outputs.end() ? as_output->second
                                          : 32);
    }
  }
  result.weights = weight_bits(graph, plan, {}, {}, count).average();
  result.all_parameters = parameters.average();
  result.data = data.average();
  return result;
}

}  // namespace hone
