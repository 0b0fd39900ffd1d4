#include "hone/runtime/fuse_unpack.h"

#include <algorithm>

#include "hone/formats/packing.h"
#include "hone/ops/list.h"
#include "hone/passes/quantize.h"
#include "hone/runtime/kernel.h"

namespace hone {
namespace {

// Operands of `linear` and `fused_linear`.
constexpr std::size_t kInput = 0, kWeight = 1, kBias = 2, kResidual = 3;
constexpr std::size_t kIds = 0, kTable = 1;  // operands of `embedding`
constexpr std::size_t kSliced = 0;           // operand of `slice`
constexpr std::string_view kEncoder = "encode_rows";

// An operation that can replace a node, with all of its attributes.
struct Replacement {
  std::string_view op;
  std::vector<Value> inputs;
  Attributes attributes;
  const Node* quantizer = nullptr;  // of the first input, replaced by an encoder; null: none
};

bool is_fast(const Replacement& replacement, const Node& node, const Session& session) {
  std::vector<Type> inputs = types_of(replacement.inputs);
  if (const Node* quantizer = replacement.quantizer) {
    const std::vector<Type> values = quantizer->input_types();
    if (!has_fast_kernel(kEncoder, quantizer->attributes(), values, quantizer->types(), session))
      return false;
    inputs[kInput] = coded_rows_type(quantizer->attributes().get<Format>("format"), values[0]);
  }
  return has_fast_kernel(replacement.op, replacement.attributes, inputs, node.types(), session);
}

// Replaces the node, and inserts the encoder of its input before it.
void replace(Graph& graph, Node& node, Replacement replacement) {
  if (const Node* quantizer = replacement.quantizer)
    replacement.inputs[kInput] = graph.add(kEncoder, quantizer->inputs(), quantizer->attributes(),
                                           quantizer->name() + ".codes", &node);
  graph.replace_operation(node, replacement.op, std::move(replacement.inputs),
                          replacement.attributes);
}

// Returns whether the node is the only reader of the packed matrix that is its input `index`.
bool reads_packed(const Graph& graph, const Node& node, std::size_t index) {
  const Node& weight = *node.inputs()[index].node;
  return is_unpacked(weight) && weight.users().size() == 1 && !graph.is_output(weight) &&
         weight.types()[0].rank() == 2;
}

bool lies_in(Arrangement arrangement, const Node& node, std::size_t index) {
  return node.inputs()[index].node->attributes().get<std::string>("arrangement") ==
         to_string(arrangement);
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

enum class RoundedBy { encoder, product };

// Returns the replacement of a product. An encoder or the product itself does the work of the quantizer of its input;
// null: the product reads the input's floats.
Replacement of_product(const Node& linear, const Node* quantizer = nullptr,
                       RoundedBy by = RoundedBy::encoder) {
  const Node& weight = *linear.inputs()[kWeight].node;
  std::vector<Value> inputs = {linear.inputs()[kInput], weight.inputs()[0], weight.inputs()[1],
                               linear.inputs()[kBias]};
  const bool adds = linear.inputs().size() > kResidual;
  if (adds) inputs.push_back(linear.inputs()[kResidual]);
  inputs.insert(inputs.end(), weight.inputs().begin() + 2, weight.inputs().end());
  const std::string activation =
      linear.is("fused_linear") ? linear.attributes().get<std::string>("activation") : "none";
  Attributes attributes = {{"format", weight.attributes().get<Format>("format")},
                           {"shape", weight.attributes().get<Shape>("shape")},
                           {"arrangement", weight.attributes().get<std::string>("arrangement")},
                           {"activation", activation},
                           {"residual", adds}};
  if (quantizer == nullptr) return {"packed_linear", std::move(inputs), std::move(attributes)};
  attributes.set("input_format", quantizer->attributes().get<Format>("format"));
  if (by == RoundedBy::product) {
    inputs[kInput] = quantizer->inputs()[0];
    quantizer = nullptr;
  }
  return {"native_linear", std::move(inputs), std::move(attributes), quantizer};
}

// Fastest first.
std::vector<Replacement> replacements(const Graph& graph, const Node& node) {
  const auto is_table = [&](std::size_t index) {
    return reads_packed(graph, node, index) && lies_in(Arrangement::rows, node, index);
  };
  if (node.is("embedding") && is_table(kTable)) return {of_embedding(node)};
  const bool of_rows = node.is("slice") && node.attributes().get<std::int64_t>("axis") == 0;
  if (of_rows && is_table(kSliced)) return {of_slice(node)};
  const bool is_product =
      (node.is("linear") || node.is("fused_linear")) && node.inputs().size() > kBias;
  if (!is_product || !reads_packed(graph, node, kWeight)) return {};
  std::vector<Replacement> all;
  const Node* input = node.inputs()[kInput].node;
  if (is_quantizer(*input) && lies_in(Arrangement::panels, node, kWeight)) {
    all.push_back(of_product(node, input, RoundedBy::encoder));
    if (input->inputs().size() == 1) all.push_back(of_product(node, input, RoundedBy::product));
  }
  all.push_back(of_product(node));
  return all;
}

// Erases a node that the replacement made redundant.
void erase_unread(Graph& graph, Node& node) {
  const bool is_handled = is_unpacked(node) || is_quantizer(node);
  if (is_handled && node.users().empty() && !graph.is_output(node)) graph.erase(node);
}

}  // namespace

bool fuse_unpack(Graph& graph, const Session& session) {
  bool changed = false;
  for (Node* node : graph.of_kind(NodeKind::operation)) {
    std::vector<Replacement> all = replacements(graph, *node);
    const auto fast =
        std::ranges::find_if(all, [&](const Replacement& r) { return is_fast(r, *node, session); });
    if (fast == all.end()) continue;
    const std::vector<Value> read_before = node->inputs();
    replace(graph, *node, std::move(*fast));
    for (const Value& value : read_before) erase_unread(graph, *value.node);
    changed = true;
  }
  return changed;
}

PassDef fuse_unpack_pass() {
  return {.name = "fuse_unpack",
          .summary = "make linear layers, embeddings and slices read packed weights directly",
          .of_runs = true,
          .run = [](Graph& graph, ParameterStore&, const Attributes&, const Session& session) {
            return fuse_unpack(graph, session);
          }};
}

}  // namespace hone
