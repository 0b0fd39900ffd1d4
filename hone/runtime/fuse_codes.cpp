#include "hone/runtime/fuse_codes.h"

#include "hone/runtime/kernel.h"
#include "hone/runtime/session.h"

namespace hone {
namespace {

constexpr std::string_view kOp = "native_linear_codes";

// Returns the product whose results only the encoder reads; null if there is none.
Node* product_of(const Graph& graph, const Node& encoder) {
  Node* product = encoder.inputs()[0].node;
  const bool alone =
      product->is("native_linear") && product->users().size() == 1 && !graph.is_output(*product);
  return alone ? product : nullptr;
}

std::vector<Value> inputs_of(const Node& product, const Node& encoder) {
  std::vector<Value> inputs = product.inputs();
  const std::size_t states = product.attributes().get<bool>("residual") ? 5 : 4;
  inputs.insert(inputs.begin() + static_cast<std::ptrdiff_t>(states), encoder.inputs().begin() + 1,
                encoder.inputs().end());
  return inputs;
}

bool fuse_product(Graph& graph, Node& encoder, const Session& session) {
  Node* product = product_of(graph, encoder);
  if (product == nullptr) return false;
  std::vector<Value> inputs = inputs_of(*product, encoder);
  Attributes attributes = product->attributes();
  attributes.set("output_format", encoder.attributes().get<Format>("format"));
  if (!has_fast_kernel(kOp, attributes, types_of(inputs), encoder.types(), session)) return false;
  graph.replace_operation(encoder, kOp, std::move(inputs), attributes);
  graph.erase(*product);
  return true;
}

// Readers of the norm's values keep them. States of the format must not be operations, which might run only after the
// norm.
bool fuse_norm(Graph& graph, Node& encoder, const Session& session) {
  constexpr std::string_view kNorm = "layer_norm_codes";
  Node* norm = encoder.inputs()[0].node;
  if (!norm->is("layer_norm")) return false;
  std::vector<Value> inputs = norm->inputs();
  for (std::size_t i = 1; i < encoder.inputs().size(); ++i) {
    if (encoder.inputs()[i].node->kind() == NodeKind::operation) return false;
    inputs.push_back(encoder.inputs()[i]);
  }
  Attributes attributes = norm->attributes();
  attributes.set("format", encoder.attributes().get<Format>("format"));
  const std::vector<Type> outputs = {norm->types()[0], encoder.types()[0]};
  if (!has_fast_kernel(kNorm, attributes, types_of(inputs), outputs, session)) return false;
  Node& fused = graph.add_node(kNorm, std::move(inputs), attributes, norm->name(), norm);
  graph.replace_uses(norm->result(), {&fused, 0});
  graph.replace_uses(encoder.result(), {&fused, 1});
  graph.erase(encoder);
  graph.erase(*norm);
  return true;
}

}  // namespace

bool fuse_codes(Graph& graph, const Session& session) {
  bool changed = false;
  for (Node* node : graph.of_kind(NodeKind::operation))
    if (node->is("encode_rows"))
      changed |= fuse_product(graph, *node, session) || fuse_norm(graph, *node, session);
  return changed;
}

PassDef fuse_codes_pass() {
  return {.name = "fuse_codes",
          .summary =
              "make native linear layers and layer norms write the codes that the next one reads",
          .of_runs = true,
          .run = [](Graph& graph, ParameterStore&, const Attributes&, const Session& session) {
            return fuse_codes(graph, session);
          }};
}

}  // namespace hone
