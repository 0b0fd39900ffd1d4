#include "hone/jobs/search/trial_metrics.h"

#include <algorithm>
#include <cmath>

#include "hone/analysis/cost.h"
#include "hone/analysis/precision.h"
#include "hone/metrics/metric.h"
#include "hone/passes/prune.h"

namespace hone {
namespace {

/// The mean number of bits per element over several tensors.
struct BitMean {
  double bits = 0, elements = 0;
  void add(double count, double each) {
    bits += count * each;
    elements += count;
  }
  double mean() const { return elements == 0 ? 32 : bits / elements; }
};

/// Metrics that depend only on the configuration.
constexpr std::string_view kShapeMetrics[] = {"average_bits", "average_data_bits", "parameters",
                                              "packed_bytes", "flops"};

bool prunes(const SearchRecipe& recipe) {
  return recipe.pruning || std::ranges::any_of(recipe.precision, [](const PrecisionGroup& group) {
           return group.sparsity.varies() || group.sparsity.value != 0;
         });
}

}  // namespace

std::map<std::string, double> evaluation_metrics(const TaskEvaluation& evaluation) {
  std::map<std::string, double> values;
  for (const Metric& metric : metrics(evaluation.task()))
    if (const double value = metric.value(evaluation); std::isfinite(value))
      values.emplace(metric.name, value);
  return values;
}

std::map<std::string, double> shape_metrics(const Graph& graph, const QuantizationPlan& plan,
                                            const LayerSparsities& sparsities,
                                            const std::vector<std::string>& layers,
                                            const EncodedSplits& data) {
  const Bindings text = {{'B', 1}, {'S', std::max<std::int64_t>(1, longest_text(data.validation))}};
  std::map<std::string, double> bits;  // of inputs, by layer
  for (const PlannedTensor& tensor : planned_tensors(graph, plan, text))
    if (tensor.operand == Operand::input) bits[tensor.layer] = tensor.average_bits;
  BitMean inputs;
  for (const std::string& layer : layers) {
    const Node& node = *graph.find(layer);
    for (std::size_t i = 0; i < node.inputs().size(); ++i) {
      if (operand_of(node, i) != Operand::input) continue;
      const auto elements =
          static_cast<double>(element_count(resolve(node.inputs()[i].type().shape, text)));
      const auto found = bits.find(layer);
      inputs.add(elements, found == bits.end() ? 32 : found->second);
    }
  }
  const PlannedSize size = planned_size(graph, plan);
  const double values[] = {weight_bits(graph, plan, layers, sparsities).average(), inputs.mean(),
                           static_cast<double>(size.parameters), std::ceil(size.bits / 8),
                           product_flops(graph, text)};
  std::map<std::string, double> named;
  for (std::size_t i = 0; i < std::size(values); ++i) named.emplace(kShapeMetrics[i], values[i]);
  return named;
}

std::vector<std::string> metric_names(const TrialSubject& subject) {
  const Task task = subject.baseline.model.facts.task();
  std::vector<std::string> names;
  for (const Metric& metric : metrics(task)) names.emplace_back(metric.name);
  names.insert(names.end(), std::begin(kShapeMetrics), std::end(kShapeMetrics));
  names.emplace_back("sparsity");
  if (!subject.fresh) names.emplace_back(kMarginSnr);
  if (!subject.fresh) names.emplace_back(kDivergenceMetric);
  if (!subject.fresh && task != Task::regression) names.emplace_back(kFlips);
  names.emplace_back(kLatencyMetric);
  return names;
}

bool is_known_during_training(const std::string& name, const SearchRecipe& recipe,
                              const TrialSubject& subject) {
  const Model& baseline = subject.baseline.model;
  if (name == "packed_bytes" &&
      (recipe.native || prunes(recipe) || !pruned_weights(baseline.graph).empty()))
    return false;  // the file leaves out zeros
  // An allocation is known only at the end of the trial.
  return (!recipe.allocation &&
          std::ranges::find(kShapeMetrics, name) != std::end(kShapeMetrics)) ||
         std::ranges::any_of(metrics(baseline.facts.task()),
                             [&](const Metric& metric) { return metric.name == name; });
}

}  // namespace hone
