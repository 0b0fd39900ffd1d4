#include "hone/passes/pack.h"

#include <algorithm>

#include "hone/base/interrupt.h"
#include "hone/base/text.h"
#include "hone/formats/packing.h"
#include "hone/passes/prune.h"
#include "hone/passes/quantize.h"
#include "hone/tensor/mapped.h"

namespace hone {
namespace {

constexpr std::string_view kCodes = ".codes", kShared = ".shared";

// Uses panels for weights that a product sums along the last axis, unless the panels would be mostly padding.
Arrangement arrangement_for(const Node& quantizer) {
  if (rows_of(resolve(quantizer.types()[0].shape, {})).count < kernels::kPackedRows)
    return Arrangement::rows;
  for (const Node* user : quantizer.users())
    for (std::size_t i = 0; i < user->inputs().size(); ++i)
      if (user->inputs()[i].node == &quantizer && operand_role(*user, i) == OperandRole::weight &&
          user->op().trait == Trait::contraction)
        return Arrangement::panels;
  return Arrangement::rows;
}

// Returns why a quantizer's parameter is not packed; "" if it is.
std::string objection(const Node& quantizer) {
  const Node& parameter = *quantizer.inputs()[0].node;
  if (parameter.users().size() > 1) return "another operation reads the unquantized values";
  return packing_objection(quantizer.attributes().get<Format>("format"),
                           resolve(parameter.types()[0].shape, {}));
}

std::vector<Node*> quantizers_of_parameters(const Graph& graph) {
  std::vector<Node*> nodes;
  for (Node* node : graph.of_kind(NodeKind::operation))
    if (is_quantizer(*node) && node->inputs()[0].node->kind() == NodeKind::parameter)
      nodes.push_back(node);
  return nodes;
}

std::vector<Node*> unpacked_nodes(const Graph& graph) {
  std::vector<Node*> nodes;
  for (Node* node : graph.of_kind(NodeKind::operation))
    if (is_unpacked(*node)) nodes.push_back(node);
  return nodes;
}

/// The description of a packed weight in a graph.
struct PackedDescription {
  const Format& format;
  Sizes sizes;
  PackedLayout layout;
  std::string codes, shared;
  std::vector<std::string> states;

  /// Throws `UserError` if hone did not write the graph.
  explicit PackedDescription(const Node& node)
      : format(node.attributes().get<Format>("format")),
        sizes(resolve(node.types()[0].shape, {})),
        layout(packed_layout(format, sizes,
                             parse_arrangement(node.attributes().get<std::string>("arrangement")))),
        codes(node.inputs()[0].node->name()),
        shared(node.inputs()[1].node->name()) {
    for (std::size_t i = 2; i < node.inputs().size(); ++i)
      states.push_back(node.inputs()[i].node->name());
    for (const Value& input : node.inputs())
      user_check(input.node->kind() == NodeKind::parameter,
                 "{}: reads {}, which is not a parameter; the graph is damaged", node.name(),
                 input.node->name());
    user_check(codes == parameter() + std::string(kCodes) &&
                   shared == parameter() + std::string(kShared) &&
                   node.inputs()[0].node->users().size() == 1 &&
                   node.inputs()[1].node->users().size() == 1,
               "{}: expected NAME{} and NAME{} that only it reads, got {} and {}; the graph "
               "is damaged",
               node.name(), kCodes, kShared, codes, shared);
  }
  std::string parameter() const {
    return codes.substr(0, codes.size() - std::min(codes.size(), kCodes.size()));
  }
  PackedTensor tensor(const ParameterStore& parameters) const {
    const auto host = [&](const std::string& name) { return parameters.at(name).on(cpu()); };
    PackedTensor tensor{format, sizes, layout, {host(codes), host(shared)}, {}};
    for (const std::string& name : states) tensor.state.push_back(host(name));
    return tensor;
  }
};

// Returns the codes of the quantizer's input.
PackedCodes codes_of(const Node& quantizer, const ParameterStore& parameters, ThreadPool& pool) {
  stop_if_interrupted();
  const Format& format = quantizer.attributes().get<Format>("format");
  const Node& parameter = *quantizer.inputs()[0].node;
  const Sizes sizes = resolve(parameter.types()[0].shape, {});
  std::vector<Tensor> state;
  for (std::size_t i = 1; i < quantizer.inputs().size(); ++i)
    state.push_back(parameters.at(quantizer.inputs()[i].node->name()));
  return with_context(parameter.name(), [&] {
    return pack({format, sizes, parameters.at(parameter.name()).values<float>(), state},
                packed_layout(format, sizes, arrangement_for(quantizer)), pool);
  });
}

void replace_by_codes(Graph& graph, ParameterStore& parameters, Node& quantizer,
                      const PackedCodes& packed) {
  const Format format = quantizer.attributes().get<Format>("format");
  Node& parameter = *quantizer.inputs()[0].node;
  const std::string name = parameter.name();
  const Shape shape = parameter.types()[0].shape;
  const Arrangement arrangement = arrangement_for(quantizer);
  const auto add = [&](std::string_view suffix, const Tensor& bytes) {
    const std::string own = name + std::string(suffix);
    const Value value = graph.add_parameter(own, {DType::u8, {Dim(bytes.count())}},
                                            ParameterRole::codes, false, &parameter);
    parameters.set(own, bytes);
    return value;
  };
  std::vector<Value> inputs = {add(kCodes, packed.codes), add(kShared, packed.shared)};
  inputs.insert(inputs.end(), quantizer.inputs().begin() + 1, quantizer.inputs().end());
  const Attributes attributes = {{"format", format},
                                 {"shape", shape},
                                 {"arrangement", std::string(to_string(arrangement))},
                                 {"role", std::string(info(parameter.role()).name)},
                                 {"packing", kPackingVersion}};
  graph.replace_operation(quantizer, kUnpack, std::move(inputs), attributes);
  graph.erase(parameter);
  parameters.erase(name);
}

// Replaces an `unpack` by the original quantizer, of a parameter in place of its codes.
void restore_quantizer(Graph& graph, Node& node) {
  const PackedDescription description(node);
  Node &codes = *node.inputs()[0].node, &shared = *node.inputs()[1].node;
  const ParameterRole role = parse_parameter_role(node.attributes().get<std::string>("role"));
  std::vector<Value> inputs = {
      graph.add_parameter(packed_parameter(node), node.types()[0], role, true, &codes)};
  inputs.insert(inputs.end(), node.inputs().begin() + 2, node.inputs().end());
  graph.replace_operation(node, kQuantizer, std::move(inputs), {{"format", description.format}});
  graph.erase(codes);
  graph.erase(shared);
}

}  // namespace

Tensor PackedTensor::values(ThreadPool& pool) const {
  Tensor y = Tensor::empty(DType::f32, sizes);
  unpack(input(), layout, packed, pool, y.values<float>());
  return y;
}

PackedTensor packed_tensor(const Node& unpack, const ParameterStore& parameters) {
  return PackedDescription(unpack).tensor(parameters);
}

std::string packed_parameter(const Node& unpack) {
  const std::string& codes = unpack.inputs()[0].node->name();
  return codes.substr(0, codes.size() - kCodes.size());
}

bool has_packed_weights(const Graph& graph) { return !unpacked_nodes(graph).empty(); }

std::vector<UnpackedParameter> unpackable(const Graph& masked) {
  Graph graph = masked;
  remove_masks(graph);
  std::vector<UnpackedParameter> left;
  for (const Node* quantizer : quantizers_of_parameters(graph))
    if (std::string reason = objection(*quantizer); !reason.empty())
      left.push_back({quantizer->inputs()[0].node->name(), std::move(reason)});
  return left;
}

bool pack_weights(Graph& graph, ParameterStore& parameters, ThreadPool& pool) {
  parameters = parameters.on(cpu());
  const bool was_masked = unprune(graph, parameters);
  std::vector<Node*> quantizers = quantizers_of_parameters(graph);
  std::erase_if(quantizers, [](const Node* quantizer) { return !objection(*quantizer).empty(); });
  std::vector<PackedCodes> packed(quantizers.size());
  pool.run(std::ssize(quantizers), [&](std::int64_t i) {
    const auto at = static_cast<std::size_t>(i);
    packed[at] = codes_of(*quantizers[at], parameters, pool);
    release_pages(parameters.at(quantizers[at]->inputs()[0].node->name()));
  });
  for (std::size_t i = 0; i < quantizers.size(); ++i)
    replace_by_codes(graph, parameters, *quantizers[i], packed[i]);
  return was_masked || !quantizers.empty();
}

bool unpack_weights(Graph& graph) {
  const std::vector<Node*> nodes = unpacked_nodes(graph);
  for (Node* node : nodes) restore_quantizer(graph, *node);
  return !nodes.empty();
}

bool unpack_weights(Graph& graph, ParameterStore& parameters, ThreadPool& pool,
                    const std::vector<std::string>& names) {
  std::vector<Node*> nodes = unpacked_nodes(graph);
  std::erase_if(nodes, [&](const Node* node) {
    return std::ranges::none_of(
        names, [&](const std::string& glob) { return glob_match(glob, packed_parameter(*node)); });
  });
  for (Node* node : nodes) {
    const PackedDescription description(*node);
    parameters.set(packed_parameter(*node), description.tensor(parameters).values(pool));
    release_pages(parameters.at(description.codes));
    parameters.erase(description.codes);
    parameters.erase(description.shared);
    restore_quantizer(graph, *node);
  }
  return !nodes.empty();
}

void check_packed_weights(const Graph& graph, const ParameterStore& parameters, ThreadPool& pool) {
  for (const Node* node : unpacked_nodes(graph)) {
    const PackedDescription description(*node);
    const PackedTensor tensor = description.tensor(parameters);
    with_context(description.codes,
                 [&] { check_codes(tensor.input(), tensor.layout, tensor.packed, pool); });
  }
}

}  // namespace hone
