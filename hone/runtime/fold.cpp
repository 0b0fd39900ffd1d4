#include "hone/runtime/fold.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "hone/passes/dead_code.h"
#include "hone/runtime/kernel.h"
#include "hone/tensor/dense.h"
#include "hone/tensor/mapped.h"

namespace hone {

bool has_fixed_size(const Node& node) {
  return std::ranges::all_of(node.types(), [](const Type& type) {
    return std::ranges::all_of(type.shape, [](const Dim& dim) { return dim.symbol == 0; });
  });
}

namespace {

double bytes_of(const Type& type) {
  return static_cast<double>(element_count(resolve(type.shape, {}))) *
         static_cast<double>(info(type.dtype).size_bytes);
}

// A result that is larger than all its inputs together, such as decoded weights, is not worth its memory.
bool grows(const Node& node) {
  double read = 0;
  for (const Value& input : node.inputs()) read += bytes_of(input.type());
  return bytes_of(node.types()[0]) > read;
}

// Whether only the host has a kernel for the node, as for codes that no kernel of a GPU decodes.
bool needs_host(const Node& node, const Session& session) {
  return !session.device.host_accessible() &&
         fast_kernel(session.library.kernels, call_site(node), session.device) == nullptr;
}

// Returns the operations whose inputs are all parameters or such operations.
std::set<const Node*> foldable_nodes(const Graph& graph, const Session& session) {
  std::set<const Node*> foldable;
  for (const auto& node : graph.nodes()) {
    const bool known_inputs = std::ranges::all_of(node->inputs(), [&](const Value& input) {
      return input.node->kind() == NodeKind::parameter || foldable.contains(input.node);
    });
    if (node->kind() == NodeKind::operation && node->op().trait != Trait::update && known_inputs &&
        !node->inputs().empty() && has_fixed_size(*node) && node->types().size() == 1 &&
        (!grows(*node) || needs_host(*node, session))) {
      foldable.insert(node.get());
    }
  }
  return foldable;
}

// Returns the input parameter of a node whose bits equal its result, as for a mask of weights that are zero already,
// or a quantizer of rounded values; null for none. Kernels can repack a file-backed parameter and release its pages.
Node* parameter_with_bits(const Node& node, const Tensor& result,
                          const ParameterStore& parameters) {
  if (!result.device().host_accessible()) return nullptr;
  for (const Value& input : node.inputs()) {
    if (input.node->kind() != NodeKind::parameter || !(input.type() == node.types()[0])) continue;
    const Tensor& values = parameters.at(input.node->name());
    if (values.contiguous() && values.device().host_accessible() &&
        std::memcmp(values.device_pointer(), result.device_pointer(), result.size_bytes()) == 0)
      return input.node;
  }
  return nullptr;
}

// Runs a graph without inputs, on the host if its device lacks a kernel.
NamedTensors computed_constants(const Graph& graph, ParameterStore& parameters,
                                const Session& session) {
  const bool on_host =
      std::ranges::any_of(graph.of_kind(NodeKind::operation),
                          [&](const Node* node) { return needs_host(*node, session); });
  if (!on_host) return session.executable(graph)->run({}, parameters);
  ParameterStore read;
  for (const Node* parameter : graph.of_kind(NodeKind::parameter))
    read.set(parameter->name(), parameters.at(parameter->name()).on(cpu()));
  return interpreted(graph, {session.library, session.pool})->run({}, read);
}

}  // namespace

bool fold_parameters(Graph& graph, ParameterStore& parameters, const Session& session) {
  const std::set<const Node*> foldable = foldable_nodes(graph, session);
  std::vector<std::string> frontier;  // folded values with other readers
  for (const Node* node : graph.of_kind(NodeKind::operation)) {
    const bool read = std::ranges::any_of(
        node->users(), [&](const Node* user) { return !foldable.contains(user); });
    if (foldable.contains(node) && (read || graph.is_output(*node)))
      frontier.push_back(node->name());
  }
  if (frontier.empty()) return false;
  Graph constants = graph;
  constants.clear_outputs();
  for (const std::string& name : frontier) constants.set_output(name, {constants.find(name), 0});
  remove_dead_code(constants);
  for (auto& [name, tensor] : computed_constants(constants, parameters, session)) {
    Node& node = *graph.find(name);
    // A view (a folded transpose) would be a strided parameter, which other devices do not support.
    Tensor result = dense_on(tensor, session.device);
    Value folded{parameter_with_bits(node, result, parameters), 0};
    if (folded.node == nullptr) {
      folded = graph.add_parameter(name + ".folded", node.types()[0], ParameterRole::buffer,
                                   /*trainable=*/false);
      parameters.set(folded.node->name(), std::move(result));
    }
    graph.replace_uses({&node, 0}, folded);
  }
  remove_dead_code(graph);
  // Parameters that were read only to compute the folded ones would occupy memory beside them.
  for (const Node* folded : constants.of_kind(NodeKind::parameter)) {
    if (graph.find(folded->name()) != nullptr || !parameters.contains(folded->name())) continue;
    if (session.device.host_accessible())
      release_pages(parameters.at(folded->name()));
    else
      parameters.erase(folded->name());
  }
  return true;
}

PassDef fold_parameters_pass() {
  return {
      .name = "fold_parameters",
      .summary = "compute once what depends only on parameters; for inference graphs",
      .of_runs = true,
      .run = [](Graph& graph, ParameterStore& parameters, const Attributes&,
                const Session& session) { return fold_parameters(graph, parameters, session); }};
}

}  // namespace hone
