#include "hone/passes/fuse_unpack.h"

#include "hone/formats/packing.h"
#include "hone/passes/quantize.h"

namespace hone {
namespace {

// Of `linear` and `fused_linear`.
constexpr std::size_t kInput = 0, kWeight = 1, kBias = 2, kResidual = 3;

// What this operation alone reads as its input `index`, packed in an arrangement.
bool reads_packed(const Graph& graph, const Node& node, std::size_t index,
                  Arrangement arrangement) {
  const Node& weight = *node.inputs()[index].node;
  return is_unpacked(weight) && weight.users().size() == 1 && !graph.is_output(weight) &&
         weight.types()[0].rank() == 2 &&
         has_units(weight.attributes().get<Format>("format"),
                   resolve(weight.types()[0].shape, {})) &&
         weight.attributes().get<std::string>("arrangement") == to_string(arrangement);
}

bool is_product(const Node& node) {
  return (node.is("linear") || node.is("fused_linear")) && node.inputs().size() > kBias;
}

constexpr std::size_t kIds = 0, kTable = 1;  // of `embedding`

void fuse_table(Graph& graph, Node& embedding) {
  Node& table = *embedding.inputs()[kTable].node;
  std::vector<Value> inputs = {embedding.inputs()[kIds]};
  inputs.insert(inputs.end(), table.inputs().begin(), table.inputs().end());
  const Attributes attributes = {{"format", table.attributes().get<Format>("format")},
                                 {"shape", table.attributes().get<Shape>("shape")}};
  graph.replace_operation(embedding, "packed_embedding", std::move(inputs), attributes);
  graph.erase(table);
}

void fuse_product(Graph& graph, Node& linear) {
  Node& weight = *linear.inputs()[kWeight].node;
  Node& input = *linear.inputs()[kInput].node;
  const bool rounded = is_quantizer(input);
  const Value residual = linear.inputs().size() > kResidual ? linear.inputs()[kResidual] : Value{};
  std::vector<Value> inputs = {rounded ? input.inputs()[0] : linear.inputs()[kInput],
                               weight.inputs()[0], weight.inputs()[1], linear.inputs()[kBias]};
  inputs.insert(inputs.end(), weight.inputs().begin() + 2, weight.inputs().end());
  Attributes attributes = {{"format", weight.attributes().get<Format>("format")},
                           {"shape", weight.attributes().get<Shape>("shape")}};
  if (linear.is("fused_linear"))
    attributes.set("activation", linear.attributes().get<std::string>("activation"));
  if (rounded) {
    attributes.set("input_format", input.attributes().get<Format>("format"));
    inputs.insert(inputs.end(), input.inputs().begin() + 1, input.inputs().end());
  }
  const std::string name = linear.name();
  Node& fused = graph.replace_operation(linear, rounded ? "native_linear" : "packed_linear",
                                        std::move(inputs), attributes);
  graph.erase(weight);
  if (rounded && input.users().empty() && !graph.is_output(input)) graph.erase(input);
  if (!residual) return;
  // Behind it: whatever read the sum.
  const auto& nodes = graph.nodes();
  auto next = std::ranges::find(nodes, &fused, [](const auto& node) { return node.get(); });
  ++next;
  const Value sums = {&fused, 0};
  Node& added = graph.add_node("add", {sums, residual}, {}, name + ".residual",
                               next == nodes.end() ? nullptr : next->get());
  graph.replace_uses(sums, {&added, 0});
  graph.set_input(added, 0, sums);
}

}  // namespace

bool fuse_unpack(Graph& graph) {
  bool changed = false;
  for (Node* node : graph.of_kind(NodeKind::operation)) {
    const bool product =
        is_product(*node) && reads_packed(graph, *node, kWeight, Arrangement::panels);
    const bool table =
        node->is("embedding") && reads_packed(graph, *node, kTable, Arrangement::rows);
    if (product) fuse_product(graph, *node);
    if (table) fuse_table(graph, *node);
    changed = changed || product || table;
  }
  return changed;
}

PassDef fuse_unpack_pass() {
  return {.name = "fuse_unpack",
          .summary = "let linears read packed weights themselves",
          .run = [](Graph& graph, ParameterStore&, const Attributes&, const Session&) {
            return fuse_unpack(graph);
          }};
}

}  // namespace hone
