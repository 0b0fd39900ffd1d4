#include "hone/jobs/native/quantize_native.h"

#include <algorithm>

#include "hone/base/text.h"
#include "hone/jobs/before_and_after.h"
#include "hone/jobs/compress.h"
#include "hone/jobs/model_card.h"
#include "hone/jobs/native/native_copy.h"
#include "hone/jobs/native/native_model.h"
#include "hone/jobs/native/native_report.h"
#include "hone/jobs/run_identity.h"
#include "hone/models/model_size.h"
#include "hone/models/transform.h"
#include "hone/passes/prune.h"
#include "hone/study/change_headline.h"

namespace hone {
namespace {

// The texts of a batch as it is when the data is measured.
BatchSize usual_batch(const EncodedSplits& data, std::int64_t batch_size) {
  const EncodedSet& set = data.test;
  std::int64_t tokens = 0;
  for (const std::int64_t length : lengths_of(set)) tokens += length;
  const std::int64_t texts = std::max<std::int64_t>(1, set.size());
  return {std::min(batch_size, texts), std::max<std::int64_t>(1, tokens / texts)};
}

// The plan without layers of which products of codes are none or not worth it, and in `layers` what became of each.
QuantizationPlan plan_worth_it(const NativeQuantizeJob& job, const QuantizationPlan& plan,
                               const std::vector<ProductTimes>& products,
                               std::vector<NativeLayer>& layers) {
  std::map<std::string, const ProductTimes*> product_of;
  for (const ProductTimes& product : products)
    for (const std::string& layer : product.layers) product_of[layer] = &product;
  QuantizationPlan worth_it;
  for (const auto& [name, formats] : plan) {
    NativeLayer layer{.name = name, .formats = formats};
    if (formats.input) {
      const ProductTimes& product = *product_of.at(name);
      if (!product.of_codes) {
        layer.reason = fmt::format("there is no product of codes for a weight of {} x {}",
                                   product.outputs, product.inputs);
      } else if (job.stays_for_speed(product)) {
        const TimesInTurn& times = product.times;
        layer.reason = fmt::format("a product takes {} ms of codes and {} ms in fp32: {}",
                                   three_digits(times.after.median_ms),
                                   three_digits(times.before.median_ms), speedup_text(times));
      }
    }
    if (layer.reason.empty()) {
      worth_it.emplace_back(name, formats);
    } else {
      layer.formats = {};
    }
    layers.push_back(std::move(layer));
  }
  return worth_it;
}

/// What is known before anything is chosen.
struct NativeRun {
  const NativeQuantizeJob& job;
  const TextModel& parent;
  const EncodedSplits& data;
  const Measurement& before;
  QuantizationPlan asked;  ///< all layers
  std::vector<Gate> gates;
  const fs::path& folder;
  Context& context;
};

/// The model that was made, and what is said of it.
struct NativeCopy {
  Model model;
  NativeFindings findings;
};

// The products that are worth it, timed with a copy that was calibrated on one text.
std::vector<ProductTimes> timed_products(const NativeRun& run) {
  CalibrationRun one_text = run.job.calibration;
  one_text.batch_size = one_text.batch_count = 1;
  one_text.heed_objections = false;
  const Model trial = NativeCopies(run.parent.model, run.asked, run.data.train, one_text,
                                   {.smooth_scales = false, .bias_correction = false}, run.context)
                          .make(run.asked);
  return time_products(run.parent.model, trial, run.asked,
                       usual_batch(run.data, run.job.eval_batch_size), run.context);
}

// What became of a layer that was left wider.
void widen(NativeLayer& layer, const QuantizationPlan& chosen) {
  const auto stands =
      std::ranges::find(chosen, layer.name, [](const auto& one) { return one.first; });
  const LayerFormats formats = stands == chosen.end() ? LayerFormats{} : stands->second;
  if (!layer.reason.empty() || formats == layer.formats) return;
  layer.formats = formats;
  layer.reason = "left wider to keep what the model is judged by";
  layer.widened = true;
}

// The plan with the layers that have to be wider, and in `findings` what each costs where that is asked for or cheap.
QuantizationPlan chosen_plan(const NativeRun& run, const NativeCopies& copies,
                             const QuantizationPlan& plan, NativeFindings& findings) {
  const NativeQuantizeJob& job = run.job;
  const Model& model = run.parent.model;
  if (!job.gates.any() && !costs_are_cheap(model, plan, run.data.train, job.calibration))
    return plan;
  const std::vector<LayerCost> costs =
      layer_costs(model, copies, plan, run.data.train, job.calibration, run.context);
  for (NativeLayer& layer : findings.layers)
    for (const LayerCost& cost : costs)
      if (cost.layer == layer.name && cost.formats == layer.formats) layer.snr_db = cost.snr_db;
  if (!job.gates.any()) return plan;
  findings.widening = choose_widening(model, copies, plan, costs, run.data, job.eval_batch_size,
                                      run.gates, run.context);
  QuantizationPlan chosen = widened(plan, costs, findings.widening->steps);
  for (NativeLayer& layer : findings.layers) widen(layer, chosen);
  return chosen;
}

NativeCopy make_copy(const NativeRun& run) {
  NativeFindings findings;
  findings.products = timed_products(run);
  const QuantizationPlan plan =
      plan_worth_it(run.job, run.asked, findings.products, findings.layers);
  const NativeCopies copies(run.parent.model, plan, run.data.train, run.job.calibration,
                            run.job.methods, run.context);
  findings.methods = run.job.methods;
  findings.smooth = copies.smooth_scales();
  return {copies.make(chosen_plan(run, copies, plan, findings)), std::move(findings)};
}

// What the copy has learnt from: calibration looked at these texts.
std::optional<TrainedOn> record_of(const NativeRun& run, std::size_t calibration_texts) {
  std::optional<TrainedOn> record = run.parent.trained_on;
  std::vector<std::uint64_t> rows;
  if (calibration_texts > 0)
    for (const std::int64_t row : calibration_rows(run.data.train.size(), run.job.calibration))
      rows.push_back(run.data.train_rows[static_cast<std::size_t>(row)]);
  if (!rows.empty()) record = after_calibration(record, run.data.identity.hash, std::move(rows));
  return run.job.row_hashes ? record : without_rows(record);
}

std::size_t calibration_texts(const NativeRun& run) {
  if (run.job.methods.smooth_scales || run.job.methods.bias_correction)
    return calibration_rows(run.data.train.size(), run.job.calibration).size();
  CompressOptions options;
  options.plan = run.asked;
  options.calibration = run.job.calibration;
  return calibration_rows(run.parent.model, run.data, options).size();
}

/// What was made, written and measured.
struct NativeOutcome {
  Model model;
  NativeFindings found;
  BeforeAndAfter both;
  std::size_t calibration_texts = 0;
  std::string label;         ///< "native int(bits=8,per=row,scale=static), inputs dynamic"
  std::string without_head;  ///< what its figures are worth then; empty: it has one
};

// "native int(bits=8,per=row,scale=static), inputs dynamic": what has a choice of scales says which.
std::string label_of(const NativeQuantizeJob& job, const NativeFindings& found) {
  std::string text = fmt::format("{} {}", found.arithmetic, format_text(found, job.weight));
  if (!native_objection(job.weight, InputScales::calibrated).empty()) return text;
  return text +
         (job.input_scales == InputScales::calibrated ? ", inputs static" : ", inputs dynamic");
}

NativeOutcome write_and_measure(const NativeRun& run, NativeCopy copy) {
  const NativeQuantizeJob& job = run.job;
  const fs::path& folder = run.folder;
  NativeOutcome outcome{.model = copy.model,
                        .found = std::move(copy.findings),
                        .both = measure_after(copy.model, run.before, run.data, job.eval_batch_size,
                                              run.gates, run.context),
                        .calibration_texts = calibration_texts(run),
                        .label = {},
                        .without_head = headless_remark(run.parent.model, /*trained=*/false)};
  NativeFindings& found = outcome.found;
  found.arithmetic = arithmetic_of_run(forward_graph(copy.model), run.context.session());
  found.times =
      time_models(run.parent.model, copy.model, run.data.test, job.eval_batch_size, run.context);
  found.threads = run.context.pool.threads();
  TextModel model = run.parent;
  model.model = std::move(copy.model);
  model.trained_on = record_of(run, outcome.calibration_texts);
  write_model(model, folder);
  found.size_before = model_size(run.parent.model, run.parent.folder);
  found.size = model_size(model.model, folder);
  outcome.label = label_of(job, found);
  return outcome;
}

Json results_of(const NativeRun& run, const NativeOutcome& outcome) {
  const NativeFindings& found = outcome.found;
  const Model& model = outcome.model;
  Json result = subject_of(run.job.model, run.data.identity, run.data.measured);
  result.update({{"format", format_text(found, run.job.weight)},
                 {"parent_format", Json()},
                 {"method", "ptq"},
                 {"arithmetic", found.arithmetic},
                 {"average_weight_bits", average_weight_bits(model)},
                 {"quantized_modules", model.quantization ? model.quantization->plan.size() : 0},
                 {"protocol", to_string(run.data.protocol)},
                 {"seed", run.job.seed},
                 {"seeds", 1},
                 {"calibration_texts", outcome.calibration_texts},
                 {"size", to_json(found.size)},
                 {"size_before", to_json(found.size_before)}});
  result.update(to_json(outcome.both, model.facts.labels));
  result.update(to_json(found));
  return result;
}

Table result_table(const NativeOutcome& outcome) {
  const BeforeAndAfter& both = outcome.both;
  return native_table({{"fp32", 32, both.before, std::nullopt, kFloat},
                       {outcome.label, average_weight_bits(outcome.model), both.after,
                        both.comparison, outcome.found.arithmetic, both.verdict}},
                      outcome.found);
}

std::string result_caption(const NativeRun& run, const NativeOutcome& outcome) {
  return figures_caption(
      run.before, run.data,
      {outcome.without_head.empty() ? "" : fmt::format("Note that {}.", outcome.without_head)});
}

// What is to be known before figures are believed.
std::vector<std::string> doubts_of(const NativeOutcome& outcome) {
  std::vector<std::string> doubts = native_concerns(outcome.found);
  const std::optional<Widening>& widening = outcome.found.widening;
  const GateVerdict& gates = outcome.both.gates.verdict;
  if (widening && !widening->too_few_texts && !gates.kept())
    doubts.push_back(fmt::format(
        "what is kept on {} is no promise for other texts, and here it is not shown: {}",
        widening->part,
        gates.conclusion == Conclusion::inconclusive
            ? "more texts that are reported may tell; gates that allow more are easier to show"
            : "a wider format, or gates that allow less, leaves more layers wider"));
  for (std::string& concern : concerns(outcome.both, outcome.model.facts.labels, "quantizing"))
    doubts.push_back(std::move(concern));
  return doubts;
}

// Of a page; a figure that cannot be drawn is a doubt.
std::vector<Section> sections_with_result(const NativeRun& run, const NativeOutcome& outcome,
                                          std::vector<std::string>& doubts) {
  const NativeFindings& found = outcome.found;
  Section result{"", {PageTable{result_table(outcome), result_caption(run, outcome)}}};
  for (Block& block : gate_blocks(outcome.both.gates, name_and_size(run.data.measured)))
    result.blocks.push_back(std::move(block));
  for (const std::string& line : lines_of(found)) result.blocks.push_back(Paragraph{line});
  result.blocks.push_back(
      native_figure(found, outcome.both, outcome.label, run.folder / "native", doubts));
  std::vector<Section> sections = {std::move(result)};
  for (Section& section : sections_of(found)) sections.push_back(std::move(section));
  sections.push_back(
      details_section(named_evaluations(outcome.both, run.data), outcome.model.facts.labels));
  return sections;
}

Document document_of(const NativeRun& run, const NativeOutcome& outcome,
                     std::vector<std::string>& doubts) {
  Document document{
      .title = fmt::format("{} quantized: native {}", run.job.model, to_string(run.job.weight)),
      .headline = {},
      .sections = sections_with_result(run, outcome, doubts)};
  describe_change(document, outcome.label, outcome.both, run.data.measured);
  if (!outcome.without_head.empty())
    document.headline = fmt::format("{}: {}", outcome.label, outcome.without_head);
  const NativeFindings& found = outcome.found;
  document.key_figures.push_back(size_figure("Size",
                                             static_cast<double>(found.size_before.memory_bytes),
                                             static_cast<double>(found.size.memory_bytes)));
  document.output = run.job.output.folder;
  return document;
}

}  // namespace

QuantizeResult quantize_native_job(const NativeQuantizeJob& job, Context& context) {
  std::vector<std::string> notes;
  OutputFolder output(job.output.folder, job.output.options());
  TextModel parent = open_model(job.model, context, job.seed);
  check_not_packed(parent.model, job.model);
  check_unquantized(parent.model, job.model);
  // Codes are not trained, so zeros need nothing to hold them.
  if (!pruned_weights(parent.model.graph).empty())
    transform(parent.model, "unprune", context.session());
  // Before anything is read: whether there is such a product.
  const Format input = native_input(job.weight, context.library.formats, job.input_scales);
  const EncodedSplits data = load_encoded(parent, job.model, job.data, job.split, job.seed,
                                          FiguresOf::one_model, context, notes);
  const std::vector<Gate> gates = gates_of(job.gates, parent.model, job.model);
  if (job.gates.any()) check_choice_part(data);
  if (!begin_run(job.invocation, parent.model.parameters, data, output))
    return finished<QuantizeResult>(output, job.output);
  const Measurement before = measure_before(parent, data, job.eval_batch_size, context, notes);
  user_check(data.train.size() > 0,
             "there are no training texts to calibrate on; give data with such a part");
  const NativeRun run{.job = job,
                      .parent = parent,
                      .data = data,
                      .before = before,
                      .asked = native_plan(plain_graph(parent.model), job.weight, input),
                      .gates = gates,
                      .folder = output.path(),
                      .context = context};
  const NativeOutcome outcome = write_and_measure(run, make_copy(run));
  std::vector<std::string> doubts = doubts_of(outcome);
  QuantizeResult result;
  result.fields = results_of(run, outcome);
  result.document = document_of(run, outcome, doubts);
  notes.insert(notes.end(), doubts.begin(), doubts.end());
  result.document.notes = std::move(notes);
  result.basis = basis_of(job.data.options.source, data, outcome.label);
  result.verdict = outcome.both.verdict;
  result.gate = outcome_of(outcome.both.gates, name_and_size(data.measured));
  write_model_card({job.output.name_of(run.folder, run.folder), job.invocation.command,
                    result_of("quantize", result.fields), lines_of(outcome.found)},
                   outcome.model, run.folder);
  write_report(result, job.invocation, run.folder, context);
  output.commit();
  tell_warnings(context, doubts);
  return result;
}

}  // namespace hone
