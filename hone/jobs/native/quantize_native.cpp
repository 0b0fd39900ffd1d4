#include "hone/jobs/native/quantize_native.h"

#include <algorithm>

#include "hone/base/cpu.h"
#include "hone/base/text.h"
#include "hone/jobs/before_and_after.h"
#include "hone/jobs/compress.h"
#include "hone/jobs/export.h"
#include "hone/jobs/model_card.h"
#include "hone/jobs/native/native_copy.h"
#include "hone/jobs/native/native_model.h"
#include "hone/jobs/native/native_report.h"
#include "hone/jobs/run_identity.h"
#include "hone/jobs/size_and_time.h"
#include "hone/jobs/summary_figure.h"
#include "hone/models/model_size.h"
#include "hone/models/transform.h"
#include "hone/passes/prune.h"
#include "hone/study/change_headline.h"

namespace hone {
namespace {

// Drops layers whose native products are not supported or slower, and sets `layers` to the format of each.
QuantizationPlan faster_layers_plan(const NativeQuantizeJob& job, const QuantizationPlan& plan,
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
      if (!product.times) {
        layer.reason = no_native_product(product.outputs, product.inputs);
      } else if (!job.keep_slower && job.is_too_slow(product)) {
        layer.slower = true;
        layer.reason = "native is slower on this machine, " + speedup_text(*product.times);
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

/// The pruning that produced the baseline, from the results in its folder.
struct PruningBefore {
  std::string original = {};  ///< the model that was pruned, as the user named it; empty: not known
  std::string change = {};    ///< of the metric, on the examples measured here; empty: not known
};

PruningBefore pruning_before(const fs::path& folder, const MeasuredSplit& measured) {
  const fs::path file = folder / "results.json";
  if (folder.empty() || !path_exists(file)) return {};
  Json results;
  try {
    results = read_json(file);
  } catch (const UserError&) {
    return {};  // written by another program
  }
  if (value_at(results, "command") != "prune" || !value_at(results, "model").is_string()) return {};
  PruningBefore before{.original = results["model"]};
  const Json& summary = value_at(value_at(results, "comparison"), "summary");
  if (summary.is_string() && value_at(results, "examples_hash") == measured.texts_hash)
    before.change = summary;
  return before;
}

/// Inputs of the run, known before any choice.
struct NativeRun {
  const NativeQuantizeJob& job;
  const TextModel& baseline;
  const EncodedSplits& data;
  const Measurement& before;
  PruningBefore pruning;
  QuantizationPlan requested;  ///< the requested formats, for all layers
  std::vector<Gate> gates;
  const fs::path& folder;
  Context& context;
};

/// The native model and the findings about it.
struct NativeCopy {
  Model model;
  NativeFindings findings;
};

// Times the products at the batch size and padding of the whole model: native can be faster with few rows and slower
// with many. One text is enough to calibrate the copy for this.
std::vector<ProductTimes> timed_products(const NativeRun& run) {
  CalibrationRun one_text = run.job.calibration;
  one_text.batch_size = one_text.batch_count = 1;
  one_text.check_objections = false;
  const Model trial = NativeCopies(run.baseline.model, run.requested, run.data.train, one_text,
                                   {.smooth_scales = false, .bias_correction = false}, run.context)
                          .make(run.requested);
  return time_products(run.baseline.model, trial, run.requested,
                       timed_batch({run.baseline.model, run.data.test}), run.context);
}

// Updates the layer to the chosen plan if its format there is wider.
void widen(NativeLayer& layer, const QuantizationPlan& chosen) {
  const auto choice =
      std::ranges::find(chosen, layer.name, [](const auto& one) { return one.first; });
  const LayerFormats formats = choice == chosen.end() ? LayerFormats{} : choice->second;
  if (!layer.reason.empty() || formats == layer.formats) return;
  layer.formats = formats;
  layer.reason = "wider to stay within the limits";
  layer.widened = true;
}

// Returns the plan with the layers that must be wider. Stores the cost of each layer in `findings` if there are gates,
// or if measuring it is cheap.
QuantizationPlan chosen_plan(const NativeRun& run, const NativeCopies& copies,
                             const QuantizationPlan& plan, NativeFindings& findings) {
  const NativeQuantizeJob& job = run.job;
  const Model& model = run.baseline.model;
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
      faster_layers_plan(run.job, run.requested, findings.products, findings.layers);
  const NativeCopies copies(run.baseline.model, plan, run.data.train, run.job.calibration,
                            run.job.methods, run.context);
  findings.methods = run.job.methods;
  findings.smooth = copies.smooth_scales();
  return {copies.make(chosen_plan(run, copies, plan, findings)), std::move(findings)};
}

// Returns the training record of the copy, with its calibration texts.
std::optional<TrainedOn> record_of(const NativeRun& run, std::int64_t calibration_examples) {
  std::optional<TrainedOn> record = run.baseline.trained_on;
  std::vector<std::uint64_t> rows;
  if (calibration_examples > 0)
    for (const std::int64_t row : calibration_rows(run.data.train.size(), run.job.calibration))
      rows.push_back(run.data.train_rows[static_cast<std::size_t>(row)]);
  if (!rows.empty()) record = after_calibration(record, run.data.identity.hash, std::move(rows));
  return run.job.row_hashes ? record : without_rows(record);
}

std::int64_t calibration_examples(const NativeRun& run) {
  if (run.job.methods.smooth_scales || run.job.methods.bias_correction)
    return std::ssize(calibration_rows(run.data.train.size(), run.job.calibration));
  CompressOptions options;
  options.plan = run.requested;
  options.calibration = run.job.calibration;
  return std::ssize(calibration_rows(run.baseline.model, run.data, options));
}

/// The model and everything measured about it.
struct NativeOutcome {
  Model model;
  NativeFindings found;
  BeforeAndAfter both;
  std::int64_t calibration_examples = 0;
  std::string label;         ///< "native int(bits=8,per=row) in 8 of 17 layers, inputs dynamic"
  std::string without_head;  ///< remark on a baseline without a trained head; empty: it has one
};

// "native int(bits=8,per=row) in 8 of 17 layers, inputs dynamic"; inputs only if there is a choice of scales.
std::string label_of(const NativeQuantizeJob& job, const NativeFindings& found) {
  std::string text =
      fmt::format("{} {}{}", found.arithmetic, short_text(job.weight), coverage_text(found));
  if (!native_unsupported_reason(job.weight, InputScales::calibrated).empty()) return text;
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
                        .calibration_examples = calibration_examples(run),
                        .label = {},
                        .without_head = headless_remark(run.baseline.model, /*trained=*/false)};
  NativeFindings& found = outcome.found;
  const Session session = run.context.session();
  found.arithmetic = arithmetic_of_run(forward_graph(copy.model), session);
  found.zeros_before = linear_zeros(run.baseline.model.graph, run.baseline.model.parameters);
  if (!to_text(found.zeros_before).empty()) {
    found.skipping = zero_skipping(copy.model, session);
    found.left_out_bytes = saved_bytes(copy.model).left_out;
  }
  found.times = time_models({run.baseline.model, run.data.test}, {copy.model, run.data.test},
                            kLatencyBatches, run.context);
  found.threads = run.context.pool.threads();
  TextModel model = run.baseline;
  model.model = std::move(copy.model);
  model.trained_on = record_of(run, outcome.calibration_examples);
  write_model(model, folder);
  found.size_before = model_size(run.baseline.model, run.baseline.folder);
  found.size = model_size(model.model, folder);
  outcome.label = label_of(job, found);
  return outcome;
}

QuantizeNativeFields fields_of_outcome(const NativeRun& run, const NativeOutcome& outcome) {
  const NativeFindings& found = outcome.found;
  const Model& model = outcome.model;
  return {
      .quantized = {.subject = subject_result(run.job.model, run.data.identity, run.data.measured),
                    .format = format_text(found, run.job.weight),
                    .method = "ptq",
                    .arithmetic = std::string(found.arithmetic),
                    .average_weight_bits = average_weight_bits(model),
                    .quantized_modules =
                        model.quantization ? std::ssize(model.quantization->plan) : 0,
                    .protocol = to_string(run.data.protocol),
                    .calibration_examples = outcome.calibration_examples},
      .both = before_and_after_result(outcome.both, model.facts.labels),
      .seed = run.job.seed,
      .gate = gate_result_if_any(outcome.both.gates),
      .size = found.size,
      .size_before = found.size_before,
      .products = found.products,
      .layers = layer_results(found),
      .smooth_scales = smooth_results(found),
      .bias_correction = found.methods.bias_correction,
      .widening = found.widening,
      .baseline_zeros = found.zeros_before,
      .skipping = found.skipping,
      .left_out_bytes = found.left_out_bytes,
      .times = found.times,
      .threads = found.threads};
}

Table result_table(const NativeOutcome& outcome) {
  const BeforeAndAfter& both = outcome.both;
  return native_table(
      {{baseline_text(outcome.found), 32, both.before, std::nullopt, kFloat},
       {outcome.label, average_weight_bits(outcome.model), both.after, both.comparison,
        outcome.found.arithmetic, both.gates.any() ? std::optional(both.verdict) : std::nullopt}},
      outcome.found);
}

std::string result_caption(const NativeRun& run, const NativeOutcome& outcome) {
  return metrics_caption(
      run.before, run.data,
      {outcome.without_head.empty() ? "" : fmt::format("Note that {}.", outcome.without_head)});
}

// "the baseline is the pruned model b, in fp32 without masks; the effect of pruning a is not included: …", or "".
std::string pruned_baseline_text(const NativeRun& run, const NativeFindings& found) {
  const PruningBefore& pruning = run.pruning;
  const bool has_zeros = !to_text(found.zeros_before).empty();
  if (!has_zeros && pruning.original.empty()) return "";
  std::string text = fmt::format(
      "the baseline is the pruned model {}, in fp32{}; the effect of pruning{} is not included",
      run.job.model, has_zeros ? " without masks" : "",
      pruning.original.empty() ? "" : " " + pruning.original);
  if (!pruning.change.empty()) text += ": on the same examples, " + pruning.change;
  return text;
}

// Returns whether the plan multiplies 8-bit codes on a CPU without instructions for them.
bool lacks_int8_instructions(const NativeRun& run) {
  const InstructionSets sets = instruction_sets();
  const bool multiplies_bytes = std::ranges::any_of(run.requested, [](const auto& layer) {
    const std::optional<Format>& input = layer.second.input;
    return input && (input->def->name == "int" || input->def->name == "mxint");
  });
  return multiplies_bytes && run.context.session().device.host_accessible() && !sets.avx_vnni &&
         !sets.avx512_vnni;
}

// Explains why no layer skips the zeros of a pruned baseline; "" if one does, or if the baseline is not pruned.
std::string unused_zeros_text(const NativeRun& run, const NativeFindings& found) {
  if (!found.skipping || found.skipping->skipping_layers() > 0 || found.skipping->dense.empty())
    return "";
  const DenseLayers& most =
      *std::ranges::max_element(found.skipping->dense, {}, &DenseLayers::layers);
  const bool other_blocks = run.context.session().device.host_accessible() &&
                            structure_text(found.zeros_before.structure) != "1x4";
  return fmt::format("no linear layer skips zeros: {}{}", most.reason,
                     other_blocks ? "; `hone prune --structure 1x4` prunes in blocks of 1x4" : "");
}

// Returns notes on the limits of the speed, and on whether a repeat makes the same model.
std::vector<std::string> hints_of(const NativeRun& run, const NativeOutcome& outcome) {
  std::vector<std::string> hints;
  if (std::string pruned = pruned_baseline_text(run, outcome.found); !pruned.empty())
    hints.push_back(std::move(pruned));
  if (std::string unused = unused_zeros_text(run, outcome.found); !unused.empty())
    hints.push_back(std::move(unused));
  if (lacks_int8_instructions(run))
    hints.push_back(
        "this CPU has no int8 instructions (VNNI); native products are faster on CPUs that have "
        "them");
  if (!run.job.keep_slower && !outcome.found.products.empty()) {
    const auto slower = std::ranges::count_if(outcome.found.layers, &NativeLayer::slower);
    hints.push_back(
        slower == 0
            ? fmt::format(
                  "timings of layers vary, so a repeat may keep some in fp32 unless you give {}",
                  run.job.invocation.setting("keep_slower"))
            : fmt::format("{} in fp32, because native is slower there on this machine; timings "
                          "vary, so a repeat may choose others; {} quantizes them too",
                          slower == 1 ? "1 layer stays" : fmt::format("{} layers stay", slower),
                          run.job.invocation.setting("keep_slower")));
  }
  if (std::string noise = noise_warning(
          outcome.found.times,
          fmt::format("{} {}", shell_word(run.job.model), shell_word(run.job.output.folder)));
      !noise.empty())
    hints.push_back(std::move(noise));
  return hints;
}

// Warnings about the numbers.
std::vector<std::string> metric_warnings_of(const NativeOutcome& outcome) {
  std::vector<std::string> metric_warnings = native_concerns(outcome.found);
  const std::optional<Widening>& widening = outcome.found.widening;
  const GateVerdict& gates = outcome.both.gates.verdict;
  if (widening && !widening->too_few_examples && !gates.within_limit())
    metric_warnings.push_back(fmt::format(
        "the model passes its gates on {}, where wider layers were chosen, but not on the reported "
        "split: {}",
        widening->part,
        gates.conclusion == Conclusion::inconclusive
            ? "give more examples to report on, or gates that allow a larger drop"
            : "choose a wider format, or gates that allow a smaller drop, which leave more layers "
              "wider"));
  for (std::string& concern : concerns(outcome.both, outcome.model.facts.labels, "quantizing"))
    metric_warnings.push_back(std::move(concern));
  return metric_warnings;
}

// Returns the sections of the page. A figure that cannot be drawn adds to `metric_warnings`.
std::vector<Section> sections_with_result(const NativeRun& run, const NativeOutcome& outcome,
                                          std::vector<std::string>& metric_warnings) {
  const NativeFindings& found = outcome.found;
  Section result{
      "",
      {PageTable{result_table(outcome), result_caption(run, outcome)},
       figure_block(summary_figure(found.size_before, found.size, found.times.front(),
                                   outcome.both.before.evaluation, outcome.both.after.evaluation),
                    run.folder / "native",
                    "Size, latency and metric of the baseline and the compressed model",
                    metric_warnings)}};
  for (Block& block : gate_blocks(outcome.both.gates, short_name_and_size(run.data.measured)))
    result.blocks.push_back(std::move(block));
  if (outcome.without_head.empty())
    result.blocks.push_back(Paragraph{usage_advice(outcome.both.gates, run.job.output.folder)});
  std::vector<Section> sections = {std::move(result)};
  for (Section& section : sections_of(found)) sections.push_back(std::move(section));
  sections.push_back(
      details_section(named_evaluations(outcome.both, run.data), outcome.model.facts.labels));
  return sections;
}

// Returns commands that lose less, for a model that lost much.
std::vector<NextCommand> accuracy_commands(const NativeRun& run) {
  const NativeQuantizeJob& job = run.job;
  const std::string& folder = job.output.folder;
  std::vector<NextCommand> next;
  const auto add_repeat_with = [&](const char* purpose,
                                   std::map<std::string, std::string> instead) {
    if (!job.invocation.command_with) return;
    instead.insert({"overwrite_output_dir", ""});
    next.push_back({purpose, job.invocation.command_with(instead)});
  };
  if (const std::optional<Format> wider = wider_weights(job.weight))
    add_repeat_with("Use more bits", {{"native", to_string(*wider)},
                                      {"output_dir", unused_name(folder, "-more-bits")}});
  const bool has_two_splits =
      run.data.measured.facts.split != run.data.measured_choice().facts.split;
  if (!job.gates.any() && has_two_splits)
    add_repeat_with("Keep the costliest layers wider",
                    {{"max_drop", "1"}, {"output_dir", unused_name(folder, "-wider")}});
  next.push_back(
      {"Train through the quantizers",
       fmt::format("hone quantize {} --format {} --qat --data {} -o {}", shell_word(job.model),
                   shell_word(to_string(job.weight)), shell_word(job.data.options.source),
                   shell_word(unused_name(folder, "-qat")))});
  return next;
}

std::vector<NextCommand> next_commands(const NativeRun& run, const NativeOutcome& outcome) {
  const std::string &folder = run.job.output.folder, &data = run.job.data.options.source;
  std::vector<NextCommand> next;
  if (outcome.both.is_clearly_worse()) next = accuracy_commands(run);
  const std::string& original = run.pruning.original;
  const bool has_original = !original.empty() && path_exists(original);
  if (has_original && outcome.without_head.empty())
    next.push_back(
        {"Compare it with the model before pruning",
         fmt::format("hone compare {} {} --data {}{}", shell_word(original), shell_word(folder),
                     shell_word(data), run.job.gates.any() ? "" : " --max_drop 1")});
  else if (!run.job.gates.any() && outcome.without_head.empty())
    next.push_back(command_to_test_limit(run.job.model, folder, data));
  if (has_original)
    next.push_back({"Compare its latency with the model before pruning",
                    fmt::format("hone bench {} {}{}", shell_word(original), shell_word(folder),
                                bench_options(outcome.found.times.front()))});
  next.push_back(command_to_export(folder, data, folder + "-onnx"));
  next.push_back({"Search for a smaller model",
                  fmt::format("hone shrink {} --data {} -o {}", shell_word(run.job.model),
                              shell_word(data), shell_word(unused_name(run.job.model, "-small")))});
  return next;
}

Document document_of(const NativeRun& run, const NativeOutcome& outcome,
                     std::vector<std::string>& metric_warnings) {
  Document document{
      .title = fmt::format("{} quantized: native {}", run.job.model, short_text(run.job.weight)),
      .headline = {},
      .sections = sections_with_result(run, outcome, metric_warnings)};
  const NativeFindings& found = outcome.found;
  describe_change(document, size_and_speed(found.size_before, found.size, found.times),
                  outcome.both, run.data.measured, /*separator=*/", ");
  if (!outcome.without_head.empty())
    document.headline = fmt::format("{}: {}", outcome.label, outcome.without_head);
  std::vector<Fact> figures = {
      size_fact(to_text(found.zeros_before).empty() ? "Size" : "Size (baseline without masks)",
                static_cast<double>(found.size_before.stored_bytes),
                static_cast<double>(found.size.stored_bytes))};
  std::ranges::move(latency_facts(found.times), std::back_inserter(figures));
  prepend_key_figures(document, std::move(figures));
  document.key_figures.push_back(layers_fact(found, run.job.invocation.setting("keep_slower")));
  document.output = run.job.output.folder;
  document.next = next_commands(run, outcome);
  return document;
}

}  // namespace

const Fields& fields_of(const QuantizeNativeFields*) {
  using Q = QuantizeNativeFields;
  static const Fields fields = describe<Q>(
      "quantize", "A native model compared with its fp32 baseline.", inlined<&Q::quantized>(),
      inlined<&Q::both>(),
      field<&Q::seed>("seed", "Random seed of the choice of calibration examples."),
      field<&Q::seeds>("seeds", Unit::seeds, "Number of seeds: 1."),
      field<&Q::gate>("gate", "Whether the gates hold; null: none were given."),
      field<&Q::size>("size", "Size of the weights."),
      field<&Q::size_before>("size_before", "Size of the weights of the baseline."),
      field<&Q::products>("products", "Each kind of product, timed alone."),
      field<&Q::layers>("layers", "Layers and embedding tables that can have the format."),
      field<&Q::smooth_scales>("smooth_scales", "Groups of layers that support smooth scales."),
      field<&Q::bias_correction>(
          "bias_correction",
          "Whether biases are corrected for the mean error of the rounded weights."),
      field<&Q::widening>("widening",
                          "Layers with wider formats for the gates; null: no gates were given."),
      field<&Q::baseline_zeros>("baseline_zeros", "Zeros in the weights of the baseline."),
      field<&Q::skipping>("skipping",
                          "Linear layers whose products skip zeros; null: fewer than 1% of the "
                          "baseline's linear weights are zero."),
      field<&Q::left_out_bytes>("left_out_bytes", Unit::bytes,
                                "Zeros that the file leaves out, of a pruned baseline."),
      field<&Q::times>("times",
                       "Latencies of batches, then of single examples; before: fp32, after: "
                       "native."),
      field<&Q::threads>("threads", "Threads that were used."));
  return fields;
}

QuantizeResult quantize_native_job(const NativeQuantizeJob& job, Context& context) {
  std::vector<std::string> notes;
  OutputFolder output(job.output.folder, job.output.options());
  TextModel baseline = open_model(job.model, context, job.seed);
  check_not_packed(baseline.model, job.model);
  check_unquantized(baseline.model, job.model);
  // The native model is not trained, so its zeros need no masks.
  if (!pruned_weights(baseline.model.graph).empty())
    transform(baseline.model, "unprune", context.session());
  // Fails for an unsupported product before any data is read.
  const Format input = native_input(job.weight, context.library.formats, job.input_scales);
  const EncodedSplits data = load_encoded(baseline, job.model, job.data, job.split, job.seed,
                                          MetricsOf::one_model, context, notes);
  const std::vector<Gate> gates = gates_of(job.gates, baseline.model, job.model);
  if (job.gates.any()) check_choice_split(data);
  if (!begin_run(job.invocation, baseline.model.parameters, data, output))
    return finished<QuantizeResult>(output, job.output);
  const Measurement before = measure_before(baseline, data, job.eval_batch_size, context, notes);
  user_check(data.train.size() > 0,
             "there are no training examples to calibrate on; give data with a training split");
  const NativeRun run{
      .job = job,
      .baseline = baseline,
      .data = data,
      .before = before,
      .pruning = pruning_before(baseline.folder, data.measured),
      .requested = native_plan(unquantized_graph(baseline.model), job.weight, input),
      .gates = gates,
      .folder = output.path(),
      .context = context};
  const NativeOutcome outcome = write_and_measure(run, make_copy(run));
  std::vector<std::string> metric_warnings = metric_warnings_of(outcome);
  QuantizeResult result;
  const QuantizeNativeFields fields = fields_of_outcome(run, outcome);
  result.fields = to_json(fields);
  result.document = document_of(run, outcome, metric_warnings);
  const std::vector<std::string> hints = hints_of(run, outcome);
  for (const auto& lines : {hints, metric_warnings})
    notes.insert(notes.end(), lines.begin(), lines.end());
  result.document.notes = std::move(notes);
  result.basis = basis_of(job.data.options.source, data, outcome.label);
  result.verdict = outcome.both.verdict;
  result.gate = outcome_of(outcome.both.gates);
  write_model_card(
      {job.output.name_of(run.folder, run.folder), job.invocation.command,
       card_facts(fields.quantized, fields.both, fields.seed), lines_of(outcome.found)},
      outcome.model, run.folder);
  write_report(result, job.invocation, run.folder, context);
  output.commit();
  print_notes(context, hints);
  print_warnings(context, metric_warnings);
  return result;
}

}  // namespace hone
