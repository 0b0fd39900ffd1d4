#include "hone/models/correct_biases.h"

#include "hone/models/transform.h"
#include "hone/passes/quantize.h"

namespace hone {
namespace {

// Returns the layer's operand of this role, or null if it has none or shares it with other operations.
const Node* unshared_operand(const Node& layer, OperandRole role) {
  for (std::size_t i = 0; i < layer.inputs().size(); ++i)
    if (operand_role(layer, i) == role && layer.inputs()[i].node->users().size() == 1)
      return layer.inputs()[i].node;
  return nullptr;
}

// Returns W rounded to its format.
std::vector<float> rounded(const Node& quantizer, const ParameterStore& parameters,
                           ThreadPool& pool) {
  const Tensor& weight = parameters.at(quantizer.inputs()[0].node->name());
  std::vector<Tensor> state;
  for (std::size_t i = 1; i < quantizer.inputs().size(); ++i)
    state.push_back(parameters.at(quantizer.inputs()[i].node->name()));
  std::vector<float> values(static_cast<std::size_t>(weight.count()));
  const Format& format = quantizer.attributes().get<Format>("format");
  format.def->quantize({format, weight.sizes(), weight.values<float>(), state}, pool, values);
  return values;
}

// b + (W - Ŵ) mean
Tensor corrected(const Tensor& bias, const Tensor& weight, std::span<const float> rounded_weight,
                 std::span<const double> mean) {
  Tensor result = bias.contiguous_copy();
  const std::span<const float> w = weight.values<float>();
  const std::span<float> b = result.values<float>();
  for (std::size_t row = 0; row < b.size(); ++row) {
    double sum = 0;
    for (std::size_t k = 0; k < mean.size(); ++k) {
      const std::size_t at = row * mean.size() + k;
      sum += (static_cast<double>(w[at]) - static_cast<double>(rounded_weight[at])) * mean[k];
    }
    b[row] = static_cast<float>(static_cast<double>(b[row]) + sum);
  }
  return result;
}

}  // namespace

std::int64_t correct_biases(
    Model& model, const std::function<std::span<const double>(const std::string& layer)>& mean_of,
    const Session& session) {
  std::int64_t changed = 0;
  const auto correct_all = [&] {
    for (const Node* layer : model.graph.of_kind(NodeKind::operation)) {
      const Node* quantizer = unshared_operand(*layer, OperandRole::weight);
      const Node* bias = unshared_operand(*layer, OperandRole::bias);
      if (quantizer == nullptr || bias == nullptr || !is_quantizer(*quantizer) ||
          bias->kind() != NodeKind::parameter)
        continue;
      const std::span<const double> mean = mean_of(layer->name());
      const Tensor weight = model.parameters.at(quantizer->inputs()[0].node->name()).on(cpu());
      if (mean.empty() || weight.rank() != 2 || weight.size(1) != std::ssize(mean)) continue;
      const Tensor& b = model.parameters.at(bias->name());
      const ParameterStore host = model.parameters.on(cpu());
      model.parameters.set(bias->name(), corrected(b.on(cpu()), weight,
                                                   rounded(*quantizer, host, session.pool), mean)
                                             .on(b.device()));
      ++changed;
    }
    return changed > 0;
  };
  change_model(model, "correct_biases", correct_all, session);
  return changed;
}

}  // namespace hone
