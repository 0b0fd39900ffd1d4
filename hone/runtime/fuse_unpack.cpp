#include "hone/runtime/fuse_unpack.h"

#include <algorithm>

#include "hone/formats/packing.h"
#include "hone/passes/quantize.h"
#include "hone/runtime/kernel.h"

namespace hone {
namespace {

// Of `linear` and `fused_linear`.
constexpr std::size_t kInput = 0, kWeight = 1, kBias = 2, kResidual = 3;
constexpr std::size_t kIds = 0, kTable = 1;  // of `embedding`
constexpr std::size_t kSliced = 0;           // of `slice`

// What may stand in a node's place, with all of its attributes.
struct Replacement {
  std::string_view op;
  std::vector<Value> inputs;
  Attributes attributes;
};

bool has_fast_kernel(const Replacement& replacement, const Node& node, const Session& session) {
  std::vector<Type> inputs;
  for (const Value& input : replacement.inputs) inputs.push_back(input.type());
  const OpDef& op = find_op(session.library.ops, replacement.op);
  return fast_kernel(session.library.kernels, {op, replacement.attributes, inputs, node.types()},
                     session.device) != nullptr;
}

// Whether the node alone reads packed codes, in this arrangement, as its input `index`.
bool reads_packed(const Graph& graph, const Node& node, std::size_t index,
                  Arrangement arrangement) {
  const Node& weight = *node.inputs()[index].node;
  return is_unpacked(weight) && weight.users().size() == 1 && !graph.is_output(weight) &&
         weight.types()[0].rank() == 2 &&
         weight.attributes().get<std::string>("arrangement") == to_string(arrangement);
}

Replacement of_embedding(const Node& embedding) {
  const Node& table = *embedding.inputs()[kTable].node;
  std::vector<Value> inputs = {embedding.inputs()[kIds]};
  inputs.insert(inputs.end(), table.inputs().begin(), table.inputs().end());
  return {"packed_embedding",
          std::move(inputs),
          {{"format", table.attributes().get<Format>("format")},
           {"shape", table.attributes().get<Shape>("shape")}}};
}

Replacement of_slice(const Node& slice) {
  const Node& table = *slice.inputs()[kSliced].node;
  return {"packed_rows",
          table.inputs(),
          {{"format", table.attributes().get<Format>("format")},
           {"shape", table.attributes().get<Shape>("shape")},
           {"begin", *slice.attributes().find("begin")},
           {"size", *slice.attributes().find("size")}}};
}

// `rounded`: takes the quantizer of its input on.
Replacement of_product(const Node& linear, bool rounded) {
  const Node& weight = *linear.inputs()[kWeight].node;
  const Node& input = *linear.inputs()[kInput].node;
  std::vector<Value> inputs = {rounded ? input.inputs()[0] : linear.inputs()[kInput],
                               weight.inputs()[0], weight.inputs()[1], linear.inputs()[kBias]};
  const bool adds = linear.inputs().size() > kResidual;
  if (adds) inputs.push_back(linear.inputs()[kResidual]);
  inputs.insert(inputs.end(), weight.inputs().begin() + 2, weight.inputs().end());
  const std::string activation =
      linear.is("fused_linear") ? linear.attributes().get<std::string>("activation") : "none";
  Attributes attributes = {{"format", weight.attributes().get<Format>("format")},
                           {"shape", weight.attributes().get<Shape>("shape")},
                           {"activation", activation},
                           {"residual", adds}};
  if (rounded) {
    attributes.set("input_format", input.attributes().get<Format>("format"));
    inputs.insert(inputs.end(), input.inputs().begin() + 1, input.inputs().end());
  }
  return {rounded ? "native_linear" : "packed_linear", std::move(inputs), std::move(attributes)};
}

// Fastest first.
std::vector<Replacement> replacements(const Graph& graph, const Node& node) {
  if (node.is("embedding") && reads_packed(graph, node, kTable, Arrangement::rows))
    return {of_embedding(node)};
  const bool of_rows = node.is("slice") && node.attributes().get<std::int64_t>("axis") == 0;
  if (of_rows && reads_packed(graph, node, kSliced, Arrangement::rows)) return {of_slice(node)};
  const bool is_product =
      (node.is("linear") || node.is("fused_linear")) && node.inputs().size() > kBias;
  if (!is_product || !reads_packed(graph, node, kWeight, Arrangement::panels)) return {};
  std::vector<Replacement> all;
  if (is_quantizer(*node.inputs()[kInput].node)) all.push_back(of_product(node, true));
  all.push_back(of_product(node, false));
  return all;
}

// What the replacement reads in its place.
void erase_unread(Graph& graph, Node& node) {
  const bool taken_on = is_unpacked(node) || is_quantizer(node);
  if (taken_on && node.users().empty() && !graph.is_output(node)) graph.erase(node);
}

}  // namespace

bool fuse_unpack(Graph& graph, const Session& session) {
  bool changed = false;
  for (Node* node : graph.of_kind(NodeKind::operation)) {
    std::vector<Replacement> all = replacements(graph, *node);
    const auto fast = std::ranges::find_if(
        all, [&](const Replacement& r) { return has_fast_kernel(r, *node, session); });
    if (fast == all.end()) continue;
    const std::vector<Value> read_before = node->inputs();
    graph.replace_operation(*node, fast->op, std::move(fast->inputs), fast->attributes);
    for (const Value& value : read_before) erase_unread(graph, *value.node);
    changed = true;
  }
  return changed;
}

PassDef fuse_unpack_pass() {
  return {.name = "fuse_unpack",
          .summary = "let linears, embeddings and slices of tables read packed weights themselves",
          .run = [](Graph& graph, ParameterStore&, const Attributes&, const Session& session) {
            return fuse_unpack(graph, session);
          }};
}

}  // namespace hone
