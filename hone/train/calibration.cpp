#include "hone/train/calibration.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "hone/passes/dead_code.h"
#include "hone/passes/remove_dropout.h"
#include "hone/train/batch_inputs.h"

namespace hone {
namespace {

std::vector<const Node*> stateful_quantizers(const Graph& graph) {
  std::vector<const Node*> found;
  for (const Node* node : graph.of_kind(NodeKind::operation)) {
    if (node->is("quantize") && node->inputs().size() > 1) found.push_back(node);
  }
  return found;
}

// The graph without its quantizers, with what each of them read as an output under the quantizer's name.
Graph observed_graph(const Graph& graph) {
  Graph plain = graph.clone();
  plain.clear_outputs();
  for (Node* node : plain.of_kind(NodeKind::operation)) {
    if (!node->is("quantize")) continue;
    if (node->inputs().size() > 1) plain.set_output(node->name(), node->inputs()[0]);
    plain.replace_uses({node, 0}, node->inputs()[0]);
  }
  remove_dropout(plain);
  remove_dead_code(plain);
  return plain;
}

}  // namespace

void calibrate(const Graph& graph, ParameterStore& parameters, const EncodedSet& data,
               std::int32_t pad_id, std::int64_t batch_size, std::int64_t batch_count,
               const Library& library, ThreadPool& pool) {
  const std::vector<const Node*> quantizers = stateful_quantizers(graph);
  if (quantizers.empty()) return;
  user_check(data.size() > 0, "calibration needs examples: the training split is empty");
  const Graph plain = observed_graph(graph);
  Interpreter interpreter(plain, library, pool);
  std::map<std::string, Observation> seen;
  std::vector<std::int64_t> order(static_cast<std::size_t>(data.size()));
  std::iota(order.begin(), order.end(), 0);
  for (const std::span<const std::int64_t> rows : batches(order, batch_size)) {
    if (batch_count-- == 0) break;
    for (const auto& [name, tensor] :
         interpreter.run(batch_inputs(make_batch(data, rows, pad_id)), parameters)) {
      seen[name].include((tensor.contiguous() ? tensor : tensor.contiguous_copy()).values<float>());
    }
  }
  for (const Node* node : quantizers) {
    const Format& format = node->attributes().get<Format>("format");
    const std::vector<Tensor> state = format.def->calibrate(format, seen.at(node->name()));
    for (std::size_t i = 0; i < state.size(); ++i)
      parameters.set(node->inputs()[i + 1].node->name(), state[i]);
  }
}

}  // namespace hone
