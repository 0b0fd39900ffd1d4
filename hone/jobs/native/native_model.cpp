#include "hone/jobs/native/native_model.h"

#include <algorithm>
#include <set>

#include "hone/models/correct_biases.h"
#include "hone/models/transform.h"
#include "hone/passes/quantize.h"
#include "hone/train/text_examples.h"

namespace hone {
namespace {

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

std::vector<std::string> linears_of(const QuantizationPlan& plan) {
  std::vector<std::string> names;
  for (const auto& [name, formats] : plan)
    if (formats.input) names.push_back(name);
  return names;
}

}  // namespace

NativeCopies::NativeCopies(const Model& model, const QuantizationPlan& plan,
                           const EncodedSet& texts, const CalibrationRun& run,
                           const NativeMethods& methods, Context& context)
    : model_(model), texts_(texts), run_(run), methods_(methods), context_(context) {
  if (methods.smooth_scales || methods.bias_correction) {
    const std::map<std::string, LayerInput> inputs =
        observe_inputs(model, linears_of(plan), texts, run, context);
    for (const auto& [name, input] : inputs) means_[name] = input.mean;
    if (methods.smooth_scales)
      scales_ = choose_smooth_scales(model, plan, inputs, run.options, context);
    for (const SmoothScales& one : scales_) {
      if (!one.applies()) continue;
      std::vector<double> mean = means_.at(one.group.value);
      for (std::size_t k = 0; k < mean.size(); ++k) mean[k] /= static_cast<double>(one.scales[k]);
      means_[smoothed_value(one.group)] = std::move(mean);
    }
  }
  Model calibrated = model;
  apply_smooth_scales(calibrated, plan);
  quantize_model(calibrated, plan, context.session());
  const Graph graph = forward_graph(calibrated);
  calibrate(graph, calibrated.parameters, text_examples(texts), run, context.session());
  for (const Node* quantizer : input_quantizers(graph))
    for (std::size_t i = 1; i < quantizer->inputs().size(); ++i)
      states_[state_key(*quantizer)].push_back(
          calibrated.parameters.at(quantizer->inputs()[i].node->name()));
}

void NativeCopies::apply_smooth_scales(Model& model, const QuantizationPlan& plan) const {
  std::set<std::string> planned;
  for (const std::string& name : linears_of(plan)) planned.insert(name);
  for (const SmoothScales& one : scales_) {
    const auto is_planned = [&](const std::string& name) { return planned.contains(name); };
    if (!one.applies() || !std::ranges::any_of(one.group.linears, is_planned)) continue;
    const auto apply = [&] {
      smooth(model.graph, model.parameters, one.group, one.scales);
      return true;
    };
    change_model(model, "smooth", apply, context_.session(),
                 fmt::format("smooth(value={}, alpha={})", one.group.value, one.alpha));
  }
}

void NativeCopies::set_input_states(Model& model) const {
  for (const Node* quantizer : input_quantizers(model.graph))
    for (std::size_t i = 1; i < quantizer->inputs().size(); ++i)
      model.parameters.set(quantizer->inputs()[i].node->name(),
                           states_.at(state_key(*quantizer))[i - 1]);
}

void NativeCopies::correct(Model& model) const {
  const auto mean_of = [&](const std::string& layer) -> std::span<const double> {
    const Node& node = *model.graph.find(layer);
    if (std::ranges::none_of(node.inputs(), [](const Value& input) {
          return is_quantizer(*input.node) &&
                 input.node->inputs()[0].node->kind() != NodeKind::parameter;
        }))
      return {};
    const auto found = means_.find(input_name(model.graph, layer));
    return found == means_.end() ? std::span<const double>() : found->second;
  };
  correct_biases(model, mean_of, context_.session());
}

Model NativeCopies::make(const QuantizationPlan& plan) const {
  Model copy = model_;
  if (plan.empty()) return copy;
  const Session session = context_.session();
  apply_smooth_scales(copy, plan);
  quantize_model(copy, plan, session);
  set_input_states(copy);
  const Graph graph = forward_graph(copy);
  std::set<std::string> settled;
  for (const Node* quantizer : input_quantizers(graph)) settled.insert(quantizer->name());
  calibrate(graph, copy.parameters, text_examples(texts_), run_, session, settled);
  copy.parameters = copy.parameters.on(cpu());  // packing runs on the CPU
  if (methods_.bias_correction) correct(copy);
  transform(copy, "pack", session);
  return copy;
}

}  // namespace hone
