#include "hone/onnx/to_onnx.h"

#include <fmt/ranges.h>

#include <set>

#include "hone/base/error.h"
#include "hone/onnx/operations.h"

namespace hone {
namespace {

void check_forms(const Graph& graph) {
  std::set<std::string_view> missing;
  for (const Node* node : graph.of_kind(NodeKind::operation))
    if (find_onnx_form(node->op()) == nullptr) missing.insert(node->op().name);
  user_check(missing.empty(), "ONNX export does not support these operations of the graph: {}",
             fmt::join(missing, ", "));
}

// Returns the name for an operation's result: that of the output if it is one, else its own.
std::string wanted_name(const Graph& graph, Value value) {
  for (const auto& [name, output] : graph.outputs())
    if (output == value) return name;
  return value.node->name();
}

}  // namespace

OnnxModel to_onnx(const Graph& graph, const ParameterStore& parameters, const std::string& name,
                  int opset, DType weights) {
  user_check(opset >= kOldestOpset && opset <= kNewestOpset,
             "`opset` must be from {} to {}, got {}", kOldestOpset, kNewestOpset, opset);
  check_forms(graph);
  OnnxModel model{.name = name, .opset = opset};
  OnnxBuilder builder(model, graph, parameters, weights);
  for (Node* node : graph.of_kind(NodeKind::operation)) {
    builder.begin(*node);
    const std::string result = find_onnx_form(node->op())(builder, *node);
    builder.end(node->result(), result, wanted_name(graph, node->result()));
  }
  builder.finish();
  return model;
}

}  // namespace hone
