#include "hone/jobs/native_model.h"

#include "hone/models/transform.h"
#include "hone/passes/quantize.h"
#include "hone/train/text_examples.h"

namespace hone {
namespace {

// The quantizers of what is computed: inputs of layers.
std::vector<const Node*> input_quantizers(const Graph& graph) {
  std::vector<const Node*> found;
  for (const Node* node : graph.of_kind(NodeKind::operation))
    if (is_quantizer(*node) && node->inputs()[0].node->kind() != NodeKind::parameter)
      found.push_back(node);
  return found;
}

std::pair<std::string, std::string> state_key(const Node& quantizer) {
  return {quantizer.inputs()[0].node->name(),
          to_string(quantizer.attributes().get<Format>("format"))};
}

}  // namespace

NativeCopies::NativeCopies(const Model& model, const QuantizationPlan& plan,
                           const EncodedSet& texts, const CalibrationRun& run, Context& context)
    : model_(model), texts_(texts), run_(run), context_(context) {
  Model calibrated = model;
  quantize_model(calibrated, plan, context.session());
  const Graph graph = forward_graph(calibrated);
  calibrate(graph, calibrated.parameters, text_examples(texts), run, context.session());
  for (const Node* quantizer : input_quantizers(graph))
    for (std::size_t i = 1; i < quantizer->inputs().size(); ++i)
      states_[state_key(*quantizer)].push_back(
          calibrated.parameters.at(quantizer->inputs()[i].node->name()));
}

void NativeCopies::settle_inputs(Model& model) const {
  for (const Node* quantizer : input_quantizers(model.graph))
    for (std::size_t i = 1; i < quantizer->inputs().size(); ++i)
      model.parameters.set(quantizer->inputs()[i].node->name(),
                           states_.at(state_key(*quantizer))[i - 1]);
}

Model NativeCopies::make(const QuantizationPlan& plan) const {
  Model copy = model_;
  if (plan.empty()) return copy;
  const Session session = context_.session();
  quantize_model(copy, plan, session);
  settle_inputs(copy);
  const Graph graph = forward_graph(copy);
  std::set<std::string> settled;
  for (const Node* quantizer : input_quantizers(graph)) settled.insert(quantizer->name());
  calibrate(graph, copy.parameters, text_examples(texts_), run_, session, settled);
  transform(copy, "pack", session);
  return copy;
}

}  // namespace hone
