#include "hone/study/layer_sensitivity.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "hone/metrics/seeds.h"
#include "hone/passes/prune.h"
#include "hone/passes/quantize.h"
#include "hone/study/comparison_table.h"
#include "hone/train/text_examples.h"

namespace hone {
namespace {

// Returns the log of the softmax.
std::vector<double> log_shares(std::span<const float> row) {
  const double most = static_cast<double>(*std::ranges::max_element(row));
  double sum = 0;
  for (const float x : row) sum += std::exp(static_cast<double>(x) - most);
  std::vector<double> logs;
  for (const float x : row) logs.push_back(static_cast<double>(x) - most - std::log(sum));
  return logs;
}

double of_classes(std::span<const float> model, std::span<const float> changed) {
  const std::vector<double> p = log_shares(model), q = log_shares(changed);
  double sum = 0;
  for (std::size_t i = 0; i < p.size(); ++i) sum += std::exp(p[i]) * (p[i] - q[i]);
  return sum;
}

// Returns the log of the sigmoid.
double log_yes(double x) {
  return x >= 0 ? -std::log1p(std::exp(-x)) : x - std::log1p(std::exp(x));
}

double of_labels(std::span<const float> model, std::span<const float> changed) {
  double sum = 0;
  for (std::size_t i = 0; i < model.size(); ++i) {
    const auto x = static_cast<double>(model[i]), y = static_cast<double>(changed[i]);
    sum += std::exp(log_yes(x)) * (log_yes(x) - log_yes(y)) +
           std::exp(log_yes(-x)) * (log_yes(-x) - log_yes(-y));
  }
  return sum;
}

// Returns the variance of each output over the examples.
std::vector<double> variances(const Logits& model) {
  std::vector<double> mean(static_cast<std::size_t>(model.classes)), squares(mean.size());
  const auto n = static_cast<double>(model.examples());
  for (std::size_t i = 0; i < model.values.size(); ++i)
    mean[i % mean.size()] += static_cast<double>(model.values[i]) / n;
  for (std::size_t i = 0; i < model.values.size(); ++i)
    squares[i % mean.size()] +=
        std::pow(static_cast<double>(model.values[i]) - mean[i % mean.size()], 2) / n;
  return squares;
}

double of_numbers(std::span<const float> model, std::span<const float> changed,
                  const std::vector<double>& variance) {
  double sum = 0;
  for (std::size_t i = 0; i < model.size(); ++i)
    sum += std::pow(static_cast<double>(changed[i]) - static_cast<double>(model[i]), 2) /
           (2 * variance[i]);
  return sum;
}

std::vector<double> of_examples(const Logits& model, const Logits& changed, Task task) {
  const std::vector<double> variance =
      task == Task::regression ? variances(model) : std::vector<double>();
  std::vector<double> all;
  for (std::int64_t i = 0; i < model.examples(); ++i)
    all.push_back(task == Task::single_label  ? of_classes(model.row(i), changed.row(i))
                  : task == Task::multi_label ? of_labels(model.row(i), changed.row(i))
                                              : of_numbers(model.row(i), changed.row(i), variance));
  return all;
}

void prune_layer(Variant& variant, const std::string& layer, const LayerChange& change) {
  if (change.sparsity.share > 0)
    prune(variant.graph, variant.parameters, prune_options(layer, change.sparsity));
}

Variant changed(const Variant& model, const std::string& layer, const LayerChange& change) {
  Variant variant = model;
  prune_layer(variant, layer, change);
  if (change.formats) quantize(variant.graph, {{layer, *change.formats}});
  return variant;
}

/// A model with all layers in one format, calibrated once. Variants take their states from it.
struct CalibratedModel {
  Graph graph;
  ParameterStore parameters;
};

void take_states(Variant& variant, const std::string& layer, const CalibratedModel& from) {
  const Node& to = *variant.graph.find(layer);
  const Node& source = *from.graph.find(layer);
  for (std::size_t i = 0; i < to.inputs().size(); ++i) {
    const Node& quantizer = *to.inputs()[i].node;
    if (!is_quantizer(quantizer)) continue;
    const Node& calibrated = *source.inputs()[i].node;
    for (std::size_t state = 1; state < quantizer.inputs().size(); ++state)
      variant.parameters.set(quantizer.inputs()[state].node->name(),
                             from.parameters.at(calibrated.inputs()[state].node->name()));
  }
}

CalibratedModel calibrated(const Variant& model, const QuantizationPlan& plan,
                           const EncodedSet& training, const CalibrationRun& run,
                           Context& context) {
  CalibratedModel all{model.graph, model.parameters};
  quantize(all.graph, plan);
  calibrate(all.graph, all.parameters, text_examples(training), run, context.session());
  return all;
}

// Returns a calibrated model for each change; none for one without formats. All use the same texts, which are run once.
std::vector<std::optional<CalibratedModel>> calibrated_in_each(
    const Variant& model, const std::vector<LayerChange>& changes, const EncodedSet& training,
    const CalibrationRun& calibration, Context& context) {
  CalibrationRun run = calibration;
  run.check_objections = false;
  if (!run.observed) run.observed = std::make_shared<ObservedValues>();
  std::vector<std::optional<CalibratedModel>> all;
  for (const LayerChange& change : changes) {
    all.emplace_back();
    if (change.formats)
      all.back() =
          calibrated(model, uniform_plan(model.graph, *change.formats), training, run, context);
  }
  return all;
}

}  // namespace

Divergence divergence(const Logits& model, const Logits& changed, const Truth& truth) {
  const std::vector<double> values = of_examples(model, changed, truth.task);
  const auto n = static_cast<double>(values.size());
  Divergence result;
  result.mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  std::map<std::int64_t, double> errors;  // by text: the sum of its deviations
  for (std::size_t i = 0; i < values.size(); ++i)
    errors[truth.texts.empty() ? static_cast<std::int64_t>(i) : truth.texts[i]] +=
        values[i] - result.mean;
  result.low = result.high = std::nan("");
  const auto texts = static_cast<double>(errors.size());
  if (errors.size() < 2 || !std::isfinite(result.mean)) return result;
  double squares = 0;
  for (const auto& [text, error] : errors) squares += error * error;
  const double half =
      student_975(std::ssize(errors) - 1) * std::sqrt(texts / (texts - 1) * squares) / n;
  result.low = std::max(0.0, result.mean - half);
  result.high = result.mean + half;
  return result;
}

SensitivityStudy measure_sensitivity(const Model& model, const std::vector<LayerChange>& changes,
                                     const EncodedSet& data, const EncodedSet& training,
                                     const CalibrationRun& calibration, const VariantRuns& runs,
                                     Context& context) {
  const Variant base{forward_graph(model), model.parameters};
  std::vector<std::string> layers;
  for (const Node* node : base.graph.of_kind(NodeKind::operation))
    if (is_default_layer(*node)) layers.push_back(node->name());
  user_check(!layers.empty() && !changes.empty(), "there is no layer to change, or no change");
  const std::vector<std::optional<CalibratedModel>> states =
      calibrated_in_each(base, changes, training, calibration, context);
  const std::size_t count = layers.size() * changes.size();
  const ExampleSource source = text_examples(data);
  Progress progress(
      "layers", static_cast<std::int64_t>(count) * data.size(),
      {.unit = std::string(data.noun()), .end = ProgressEnd::vanishes, .output = context.progress});
  SensitivityStudy study;
  study.cost = rows_of_variants(
      base, count,
      [&](std::size_t i) {
        const std::string& layer = layers[i / changes.size()];
        Variant variant = changed(base, layer, changes[i % changes.size()]);
        if (states[i % changes.size()]) take_states(variant, layer, *states[i % changes.size()]);
        return variant;
      },
      source, runs, context.session(), [&](std::int64_t done) { progress.update(done); });
  study.outputs = std::move(study.cost.variants);
  const std::vector<float> own = std::move(study.cost.base);
  const Truth truth = truth_of(data);
  const Logits before{own, study.cost.width};
  study.model = evaluate(before, truth);
  for (std::size_t i = 0; i < count; ++i) {
    const Logits after{study.outputs[i], study.cost.width};
    study.layers.push_back({layers[i / changes.size()], changes[i % changes.size()].label,
                            divergence(before, after, truth), compare(before, after, truth)});
  }
  return study;
}

std::vector<Divergence> measure_allocations(
    const Model& model, const std::vector<std::string>& layers,
    const std::vector<LayerChange>& changes,
    const std::vector<std::vector<std::size_t>>& allocations, const EncodedSet& data,
    const EncodedSet& training, const CalibrationRun& calibration, const VariantRuns& runs,
    Context& context) {
  HONE_ASSERT(!allocations.empty(), "no allocation to measure");
  const Variant plain{forward_graph(model), model.parameters};
  const std::vector<std::optional<CalibratedModel>> states =
      calibrated_in_each(plain, changes, training, calibration, context);
  const auto allocated = [&](const std::vector<std::size_t>& allocation) {
    Variant variant = plain;
    QuantizationPlan plan;
    for (std::size_t i = 0; i < layers.size(); ++i) {
      const LayerChange& change = changes[allocation[i]];
      prune_layer(variant, layers[i], change);
      if (change.formats) plan.emplace_back(layers[i], *change.formats);
    }
    quantize(variant.graph, plan);
    for (std::size_t i = 0; i < layers.size(); ++i)
      if (const auto& from = states[allocation[i]]) take_states(variant, layers[i], *from);
    return variant;
  };
  const ExampleSource source = text_examples(data);
  // The unchanged model is the last variant.
  Progress progress(
      "swaps", std::ssize(allocations) * data.size(),
      {.unit = std::string(data.noun()), .end = ProgressEnd::vanishes, .output = context.progress});
  const VariantRows rows = rows_of_variants(
      allocated(allocations.front()), allocations.size(),
      [&](std::size_t i) {
        return i + 1 < allocations.size() ? allocated(allocations[i + 1]) : plain;
      },
      source, runs, context.session(), [&](std::int64_t done) { progress.update(done); });
  const Truth truth = truth_of(data);
  const Logits unchanged{rows.variants.back(), rows.width};
  std::vector<Divergence> divergences = {divergence(unchanged, {rows.base, rows.width}, truth)};
  for (std::size_t i = 0; i + 1 < allocations.size(); ++i)
    divergences.push_back(divergence(unchanged, {rows.variants[i], rows.width}, truth));
  return divergences;
}

namespace {

// Returns the layers, the most sensitive first.
std::vector<const LayerSensitivity*> ranked(const SensitivityStudy& study) {
  std::vector<const LayerSensitivity*> layers;
  for (const LayerSensitivity& one : study.layers) layers.push_back(&one);
  const auto rank = [](const LayerSensitivity* one) {  // NaN comes first
    return std::isnan(one->divergence.mean) ? -HUGE_VAL : -one->divergence.mean;
  };
  std::ranges::stable_sort(layers, {}, rank);
  return layers;
}

}  // namespace

Table sensitivity_table(const SensitivityStudy& study) {
  constexpr int kDigits = 6;  // divergences of 8 bits and more are around 1e-6
  const MetricName& metric = study.model.metric;
  Table table({{"layer", "Layer"},
               {"change", "Alone in"},
               {"divergence", "Divergence"},
               {"divergence_low", "95% from"},
               {"divergence_high", "to"},
               {"metric_change", fmt::format("Change of {}", metric.text)},
               difference_column(metric)});
  for (const LayerSensitivity* one : ranked(study))
    table.add_row({one->layer, one->change, real(one->divergence.mean, kDigits),
                   real(one->divergence.low, kDigits), real(one->divergence.high, kDigits),
                   change_cell(one->comparison.change), difference_cell(one->comparison)});
  return table;
}

const Fields& fields_of(const LayerSensitivityResult*) {
  using L = LayerSensitivityResult;
  static const Fields fields = describe<L>(
      "layer_sensitivity", "One layer changed, all others unchanged.",
      field<&L::layer>("layer", "Name of the operation."),
      field<&L::change>("change",
                        "The format of all its operands, or the share of its weights removed."),
      field<&L::divergence>("divergence",
                            "Mean divergence from the baseline's predictions, in nats for classes "
                            "and labels; null: a prediction is no number.")
          .or_null(),
      field<&L::divergence_interval>("divergence_interval",
                                     "Its 95% interval; null for fewer than two examples."),
      field<&L::metric_change>("metric_change", Unit::difference,
                               "Change of the metric; null: it is not defined."),
      field<&L::metric_change_interval>("metric_change_interval",
                                        "Its 95% interval; null: the metric is not defined."),
      field<&L::flip_share>("flip_share", Unit::share, "Predictions changed; null for regression."),
      field<&L::flip_interval>("flip_interval", Unit::share,
                               "Its 95% interval; null for regression."),
      field<&L::mean_shift>("mean_shift",
                            "Mean absolute change of predictions, in the unit of the targets; null "
                            "unless the task is regression."));
  return fields;
}

std::vector<LayerSensitivityResult> layer_sensitivity_results(const SensitivityStudy& study) {
  std::vector<LayerSensitivityResult> rows;
  for (const LayerSensitivity* one : ranked(study)) {
    const Divergence& divergence = one->divergence;
    const TaskComparison& c = one->comparison;
    LayerSensitivityResult row{
        .layer = one->layer, .change = one->change, .divergence = divergence.mean};
    if (!std::isnan(divergence.low)) row.divergence_interval = {divergence.low, divergence.high};
    if (c.change.interval) row.metric_change = c.change.change;
    row.metric_change_interval = c.change.interval;
    if (c.counted) {
      row.flip_share = c.counted->flip_share;
      row.flip_interval = c.counted->flip_interval;
    } else {
      row.mean_shift = c.mean_shift;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace hone
