#include "hone/jobs/native/widening.h"

#include <algorithm>
#include <map>

#include "hone/analysis/cost.h"
#include "hone/base/interrupt.h"
#include "hone/metrics/evidence.h"
#include "hone/train/memory_check.h"
#include "hone/train/predictor.h"
#include "hone/train/text_examples.h"

namespace hone {
namespace {

constexpr std::int64_t kMostTexts = 256;  // for measuring single layers
constexpr double kCheapGflop = 500;
constexpr std::int64_t kProductBits = 8;

// Returns the calibration texts on which single layers are measured.
EncodedSet trial_texts(const EncodedSet& texts, const CalibrationRun& run) {
  EncodedSet some{.ids = {},
                  .labels = {},
                  .task = texts.task,
                  .target_width = texts.target_width,
                  .pad_id = texts.pad_id,
                  .images = texts.images};
  std::vector<std::int64_t> rows = calibration_rows(texts.size(), run);
  if (std::ssize(rows) > kMostTexts) rows.resize(kMostTexts);
  for (const std::int64_t row : rows) {
    const auto at = static_cast<std::size_t>(row);
    some.ids.push_back(texts.ids[at]);
    some.labels.push_back(texts.labels[at]);
    if (!texts.type_1_begins.empty()) some.type_1_begins.push_back(texts.type_1_begins[at]);
    const auto targets = texts.targets.begin() + row * texts.target_width;
    some.targets.insert(some.targets.end(), targets, targets + texts.target_width);
  }
  return some;
}

// Returns the requested formats and wider ones, without fp32.
std::vector<LayerFormats> widths_of(const LayerFormats& formats) {
  std::vector<LayerFormats> widths = {formats};
  if (const std::optional<Format> wider = wider_weights(*formats.weight)) {
    widths.push_back(formats);
    widths.back().weight = *wider;
  }
  return widths;
}

// Returns the steps in their order. If a layer loses less in its narrower format, its two steps are consecutive.
std::vector<const LayerCost*> step_order(const std::vector<LayerCost>& costs) {
  std::map<std::string, double> narrowest;
  std::vector<std::pair<double, const LayerCost*>> steps;
  for (const LayerCost& cost : costs) {
    const auto [at, first] = narrowest.try_emplace(cost.layer, cost.snr_db);
    at->second = std::max(at->second, cost.snr_db);
    steps.emplace_back(at->second, &cost);
  }
  std::ranges::stable_sort(steps, {}, [](const auto& step) { return step.first; });
  std::vector<const LayerCost*> order;
  for (const auto& [snr_db, cost] : steps) order.push_back(cost);
  return order;
}

}  // namespace

const Fields& fields_of(const WideningTrial*) {
  using T = WideningTrial;
  static const Fields fields =
      describe<T>("tried_widening", "A model after some of the steps, compared with fp32.",
                  field<&T::steps>("steps", "Steps that were taken."), omitted<&T::verdict>(),
                  field<&T::conclusion>("verdict", "Of all gates."),
                  field<&T::change>("change", Unit::difference,
                                    "Of the gate that is the hardest to pass; null: not defined.")
                      .or_null());
  return fields;
}

const Fields& fields_of(const Widening*) {
  using W = Widening;
  static const Fields fields = describe<W>(
      "widening",
      "Steps to wider formats, first for the layers that lose most: to 8 bits, then to fp32.",
      field<&W::part>("split", "Split on which the number of steps was chosen."),
      field<&W::examples>("n", Unit::examples, "Examples of that split."),
      field<&W::effective_examples>(
          "effective_n", Unit::examples,
          "Effective number of these examples: fewer if some repeat others."),
      field<&W::all_steps>("all_steps", "Steps to fp32 everywhere."),
      field<&W::steps>("steps", "Steps that were taken."),
      field<&W::too_few_examples>(
          "too_few_examples",
          "Whether even fp32 compared with itself would not pass; then no step is taken."),
      field<&W::tried>("trials", "Numbers of steps that were tried, in this order."));
  return fields;
}

std::optional<Format> wider_weights(const Format& format) {
  const auto is_bits = [](const FormatParameterDef& parameter) { return parameter.name == "bits"; };
  if (std::ranges::none_of(format.def->parameters, is_bits) || format["bits"] >= kProductBits)
    return std::nullopt;
  Format wider = format;
  wider["bits"] = kProductBits;
  return wider;
}

std::vector<LayerCost> layer_costs(const Model& model, const NativeCopies& copies,
                                   const QuantizationPlan& plan, const EncodedSet& texts,
                                   const CalibrationRun& run, Context& context) {
  const EncodedSet some = trial_texts(texts, run);
  const Truth truth = truth_of(some);
  const Measurement baseline =
      measure(model, some, run.batch_size, context, "fp32", ProgressEnd::vanishes);
  std::vector<LayerCost> costs;
  for (const auto& [name, formats] : plan)
    for (const LayerFormats& width : widths_of(formats)) costs.push_back({name, width, 0});
  Progress progress("layers one at a time", std::ssize(costs),
                    {.end = ProgressEnd::vanishes, .output = context.progress});
  for (LayerCost& cost : costs) {
    stop_if_interrupted();
    const Model alone = copies.make({{cost.layer, cost.formats}});
    Predictor predictor(forward_graph(alone), alone.parameters, context.session());
    const ExampleSource source = text_examples(some);
    check_batches(predictor.graph(), source.lengths, run.batch_size, context.session(),
                  predictor.parameters(), "");
    const std::vector<float> outputs = predictor.rows(source, run.batch_size);
    cost.snr_db = compare(baseline.view(), {outputs, baseline.outputs}, truth).snr_db;
    progress.update(&cost - costs.data() + 1, cost.layer);
  }
  return costs;
}

bool costs_are_cheap(const Model& model, const QuantizationPlan& plan, const EncodedSet& texts,
                     const CalibrationRun& run) {
  const EncodedSet some = trial_texts(texts, run);
  std::int64_t tokens = 0;
  for (const std::int64_t length : lengths_of(some)) tokens += length;
  const std::int64_t count = std::max<std::int64_t>(1, some.size());
  const double flops = cost(forward_graph(model), {{'B', count}, {'S', tokens / count}}).flops;
  std::size_t trials = 1;
  for (const auto& [name, formats] : plan) trials += widths_of(formats).size();
  return flops * static_cast<double>(trials) < kCheapGflop * 1e9;
}

QuantizationPlan widened(const QuantizationPlan& plan, const std::vector<LayerCost>& costs,
                         std::int64_t steps) {
  std::map<std::string, std::size_t> taken;
  const std::vector<const LayerCost*> order = step_order(costs);
  for (std::int64_t i = 0; i < steps; ++i) ++taken[order[static_cast<std::size_t>(i)]->layer];
  QuantizationPlan result;
  for (const auto& [name, formats] : plan) {
    const std::vector<LayerFormats> widths = widths_of(formats);
    if (taken[name] < widths.size()) result.emplace_back(name, widths[taken[name]]);
  }
  return result;
}

Widening choose_widening(const Model& model, const NativeCopies& copies,
                         const QuantizationPlan& plan, const std::vector<LayerCost>& costs,
                         const EncodedSplits& data, std::int64_t batch_size,
                         const std::vector<Gate>& gates, Context& context) {
  const ChoiceSplit part = choice_split(data);
  const Truth truth = truth_of(part.examples);
  const Measurement baseline =
      measure(model, part.examples, batch_size, context, "fp32, " + part.name);
  Widening result{.part = part.name,
                  .examples = part.examples.size(),
                  .effective_examples = effective_examples(baseline.evaluation.examples,
                                                           baseline.evaluation.evidence),
                  .all_steps = std::ssize(costs)};
  const JudgedGates itself = judge(gates, baseline.view(), baseline.view(), truth);
  for (std::size_t i = 0; i < gates.size(); ++i)
    if (itself.changes[i].is_discrete && !itself.verdict.gates[i].within_limit())
      result.too_few_examples = true;
  if (result.too_few_examples) {
    return result;
  }
  const auto is_kept = [&](std::int64_t steps) {
    const Measurement tried =
        measure(copies.make(widened(plan, costs, steps)), part.examples, batch_size, context,
                steps == 0 ? "requested formats, " + part.name
                           : fmt::format("{} steps wider, {}", steps, part.name));
    result.tried.push_back({steps, judge(gates, baseline.view(), tried.view(), truth).verdict});
    return result.tried.back().verdict.within_limit();
  };
  if (is_kept(0)) return result;
  std::int64_t lost = 0, kept = result.all_steps;  // after all steps: fp32
  while (kept - lost > 1) {
    const std::int64_t middle = lost + (kept - lost) / 2;
    (is_kept(middle) ? kept : lost) = middle;
  }
  result.steps = kept;
  return result;
}

void check_choice_split(const EncodedSplits& data) {
  const ChoiceSplit part = choice_split(data);
  user_check(
      data.protocol == Protocol::original || part.name != data.measured.facts.split,
      "`max_drop`, `gate`: these need two splits: validation, to choose wider layers, and test, to "
      "report the result. The data has no test split, so both would be {}. Give data with a test "
      "split, such as a folder with train.csv and test.csv (`validation_split` sets validation "
      "examples aside), or leave the limits out here and give them to `hone compare`",
      name_and_size(data.measured));
}

}  // namespace hone
