#include "hone/jobs/prune.h"

#include <algorithm>

#include "hone/analysis/sparsity.h"
#include "hone/base/percentage.h"
#include "hone/base/text.h"
#include "hone/jobs/before_and_after.h"
#include "hone/jobs/compress.h"
#include "hone/jobs/learning_curve.h"
#include "hone/jobs/model_card.h"
#include "hone/jobs/quantize.h"
#include "hone/jobs/run_identity.h"
#include "hone/models/model_size.h"
#include "hone/models/unrounded.h"
#include "hone/passes/prune_inputs.h"
#include "hone/study/comparison_table.h"
#include "hone/study/evaluation_details.h"
#include "hone/study/result.h"
#include "hone/tensor/dense.h"
#include "hone/train/input_thresholds.h"
#include "hone/train/text_examples.h"

namespace hone {
namespace {

constexpr std::string_view kNoSpeedUp =
    "No speed-up: zeros are stored and multiplied like other numbers.";

/// What the parts of a job share.
struct PruneRun {
  const PruneJob& job;
  const TextModel& parent;
  bool parent_is_unrounded;  ///< its weights are those of a training, before they were rounded
  const EncodedSplits& data;
  const Measurement& before;
  SparsifyOptions options;
  OutputFolder& output;
  Context& context;

  std::string parent_format() const {
    const auto& quantization = parent.model.quantization;
    return quantization ? summary(quantization->plan) : "";
  }
  std::string part() const { return name_and_size(data.measured); }
};

/// What was pruned, counted in the weights that are multiplied with.
struct PrunedZeros {
  std::vector<Zeros> weights;  ///< that have masks
  Zeros pruned;                ///< of them together
  std::int64_t masked = 0;     ///< of these zeros; others were rounded to 0
  Zeros all;                   ///< of all parameters
};

PrunedZeros zeros_of(const Model& rounded) {
  PrunedZeros zeros;
  const std::vector<Zeros> all = parameter_zeros(rounded.graph, rounded.parameters);
  for (const Node* weight : pruned_weights(rounded.graph)) {
    zeros.weights.push_back(*std::ranges::find(all, weight->name(), &Zeros::name));
    zeros.masked += pruned_count(dense_on(rounded.parameters.at(mask_of(*weight).name()), cpu()));
  }
  zeros.pruned = total(zeros.weights);
  zeros.all = total(all);
  return zeros;
}

// "Zeros: 204 800 of 409 600 weights in 13 pruned tensors (50.0 %), and 27.8 % of all 738 178 parameters."
std::string to_text(const PrunedZeros& zeros) {
  const std::int64_t rounded = zeros.pruned.zeros - zeros.masked;
  return fmt::format(
      "Zeros: {} of {} weights in {} pruned tensor{} ({}){}, and {} of all {} parameters.",
      grouped(zeros.pruned.zeros), grouped(zeros.pruned.elements), zeros.weights.size(),
      zeros.weights.size() == 1 ? "" : "s", share_text(zeros.pruned.share()),
      rounded == 0 ? ""
                   : fmt::format(", {} of them masked, the others 0 by themselves or by rounding",
                                 grouped(zeros.masked)),
      share_text(zeros.all.share()), grouped(zeros.all.elements));
}

Table to_table(const PrunedZeros& zeros) {
  Table table(
      {{"weight", "Weight"}, {"elements", "Elements"}, {"zeros", "Zeros"}, {"share", "Share"}});
  for (const Zeros& one : zeros.weights)
    table.add_row({one.name, one.elements, one.zeros, percent(one.share())});
  return table;
}

Json to_json(const Zeros& zeros) {
  return {{"elements", zeros.elements}, {"zeros", zeros.zeros}, {"share", zeros.share()}};
}

Json to_json(const PrunedZeros& zeros) {
  Json weights = Json::array();
  for (const Zeros& one : zeros.weights) {
    Json row = {{"name", one.name}};
    row.update(to_json(one));
    weights.push_back(row);
  }
  return {{"weights", weights},
          {"pruned_weights", to_json(zeros.pruned)},
          {"masked", zeros.masked},
          {"all_parameters", to_json(zeros.all)}};
}

// "Activations: 29.8 to 31.2 % of what each of 9 thresholds reads is cut, over 256 training texts."
std::string inputs_text(const std::vector<InputZeros>& inputs, std::size_t texts) {
  if (inputs.empty()) return "";
  const auto [least, most] = std::ranges::minmax(inputs, {}, &InputZeros::share);
  return fmt::format(
      "Activations: {} to {} of what each of {} thresholds reads is cut, over {} training texts.",
      share_text(least.share), share_text(most.share), inputs.size(),
      grouped(static_cast<long long>(texts)));
}

Table to_table(const std::vector<InputZeros>& inputs) {
  Table table({{"threshold", "Threshold"}, {"least", "Least magnitude"}, {"share", "Cut"}});
  for (const InputZeros& one : inputs)
    table.add_row({one.name, real(static_cast<double>(one.least), 6), percent(one.share)});
  return table;
}

Json to_json(const std::vector<InputZeros>& inputs) {
  Json rows = Json::array();
  for (const InputZeros& one : inputs)
    rows.push_back({{"name", one.name}, {"least", one.least}, {"share", one.share}});
  return rows;
}

/// One pruned model, written to its folder, and what the report says of it.
struct Pruned {
  Json result;
  Table table = Table(std::vector<Column>{});
  Verdict verdict;
  PrunedZeros zeros;
  std::vector<InputZeros> inputs;  ///< where activations are pruned
  std::vector<NamedEvaluation> measured;
  ModelSize size;
  std::string caveat;
  std::vector<Section> sections;
  std::vector<std::string> doubts;  ///< about the figures
  std::vector<std::string> notes;
};

// Pruned, and trained with a log and a learning curve in the folder.
Model pruned_copy(const PruneRun& run, const SparsifyOptions& options, const fs::path& folder,
                  std::int64_t& steps, Pruned& pruned) {
  TrainingLog log = options.trains ? training_log_in(folder, run.job.report_to) : TrainingLog();
  Model model = sparsify(run.parent.model, run.data, options, log, run.context);
  if (!options.trains) return model;
  steps = log.steps().empty() ? 0 : log.steps().back().step;
  Section curve = learning_curve_section(log, summary(options) + "; one seed",
                                         folder / "learning_curve", pruned.notes);
  if (!curve.blocks.empty()) pruned.sections.push_back(std::move(curve));
  return model;
}

std::optional<TrainedOn> record_of(const PruneRun& run) {
  std::optional<TrainedOn> record = run.parent.trained_on;
  std::vector<std::uint64_t> calibrated;
  for (const std::int64_t row : calibration_rows(run.data, run.options))
    calibrated.push_back(run.data.train_rows[static_cast<std::size_t>(row)]);
  if (!calibrated.empty())
    record = after_calibration(record, run.data.identity.hash, std::move(calibrated));
  if (run.options.trains) {
    record = after_training(record, run.data.identity.hash, run.data.train_rows,
                            run.data.validation_rows);
    remember_columns(*record, run.job.data.options);
  }
  return run.job.row_hashes ? record : without_rows(record);
}

Pruned prune_once(const PruneRun& run, const fs::path& folder) {
  const PruneJob& job = run.job;
  TextModel model = run.parent;
  model.trained_on = record_of(run);
  SparsifyOptions options = run.options;
  options.fine_tune.checkpoints = checkpoints_in(folder, job.resume, model, run.output);
  Pruned pruned;
  std::int64_t steps = 0;
  const Model unrounded = pruned_copy(run, options, folder, steps, pruned);
  model.model = round_weights(unrounded, run.context);
  if (options.activations)
    pruned.inputs = count_input_zeros(forward_graph(model.model), model.model.parameters,
                                      text_examples(run.data.train), options.calibration,
                                      run.context.session());
  pruned.zeros = zeros_of(model.model);
  pruned.caveat = training_caveat(steps, steps, "pruning");
  const BeforeAndAfter both =
      measure_after(model.model, run.before, run.data, options.fine_tune.eval_batch_size,
                    margin_of(job.max_drop_points), run.context);
  pruned.verdict = both.verdict;
  const auto& labels = model.model.facts.labels;
  const double weight_bits = average_weight_bits(model.model);
  const std::string_view arithmetic = arithmetic_of(model.model.graph);
  pruned.table = comparison_table(
      {{"before", average_weight_bits(run.parent.model), run.before, std::nullopt,
        arithmetic_of(run.parent.model.graph)},
       {summary(run.options), weight_bits, both.after, both.comparison, arithmetic, both.verdict}});
  const PruneRule& rule = options.pruning.rule;
  pruned.result = subject_of(job.model, run.data.identity, run.data.measured);
  pruned.result.update(
      {{"format",
        model.model.quantization ? Json(summary(model.model.quantization->plan)) : Json()},
       {"pruning", prune_text(options.pruning)},
       {"method", to_string(rule.method)},
       {"scope", to_string(rule.scope)},
       {"structure", structure_text(rule.pattern)},
       {"schedule", options.cubic ? "cubic" : "one_shot"},
       {"activations", options.activations ? Json(*options.activations) : Json()},
       {"inputs", to_json(pruned.inputs)},
       {"calibration_texts", calibration_rows(run.data, run.options).size()},
       {"arithmetic", arithmetic},
       {"average_weight_bits", weight_bits},
       {"zeros", to_json(pruned.zeros)},
       {"protocol", to_string(run.data.protocol)},
       {"seed", job.seed},
       {"seeds", 1}});
  pruned.result.update(to_json(both, labels));
  if (options.trains) pruned.result["steps"] = steps;
  if (!pruned.caveat.empty()) pruned.result["caveat"] = pruned.caveat;
  if (job.max_drop_points) pruned.result["gate"] = gate_json(pruned.verdict);
  for (const std::string& concern : concerns(both.after.evaluation, labels))
    pruned.doubts.push_back(fmt::format("after pruning, {}", concern));
  pruned.measured = named_evaluations(both, run.data);
  pruned.sections.push_back(details_section(pruned.measured, labels));
  write_model(model, folder);
  if (model.model.quantization && (options.trains || run.parent_is_unrounded))
    write_unrounded(unrounded, model.model, folder);
  pruned.result["size_before"] = to_json(model_size(run.parent.model, run.parent.folder));
  pruned.size = model_size(model.model, folder);
  pruned.result["size"] = to_json(pruned.size);
  write_model_card({job.output.name_of(folder, run.output.path()), job.invocation.command,
                    result_of("prune", pruned.result)},
                   model.model, folder);
  return pruned;
}

// What is worth knowing of the model whatever it was measured on.
std::vector<std::string> remarks(const PruneRun& run, const Pruned& pruned) {
  std::vector<std::string> lines = {
      to_text(pruned.zeros),
      inputs_text(pruned.inputs, calibration_rows(run.data, run.options).size()),
      std::string(kNoSpeedUp), to_text(pruned.size)};
  std::erase(lines, "");
  return lines;
}

std::string headline(const PruneRun& run, const Verdict& verdict) {
  const std::string random = headless_remark(run.parent.model, run.options.trains);
  if (!run.options.trains && !random.empty())
    return fmt::format("{}: {}.", summary(run.options), random);
  return fmt::format("{}, {}: {}.", summary(run.options), run.part(), verdict.summary);
}

std::string caption_of(const PruneRun& run, const std::string& caveat) {
  const std::string format = run.parent_format();
  const std::string random = headless_remark(run.parent.model, run.options.trains);
  return figures_caption(
      run.before, run.data,
      {format.empty() ? ""
                      : fmt::format("Both models are quantized ({}): what that has cost is no part "
                                    "of the change.",
                                    format),
       caveat, random.empty() ? "" : fmt::format("Note that {}.", random)});
}

// For people; it outlives the run.
std::function<std::string(const TextStyle&)> text_of(const PruneRun& run, const Pruned& pruned) {
  std::string last = fmt::format("one seed; written to {}\n", run.job.output.folder);
  for (const std::string& line : remarks(run, pruned)) last += line + "\n";
  return [=, headline = headline(run, pruned.verdict), caption = caption_of(run, pruned.caveat),
          verdict = pruned.verdict, table = pruned.table, measured = pruned.measured,
          labels = run.parent.model.facts.labels](const TextStyle& style) {
    return fmt::format("{}\n\n{}\n\n{}\n{}{}", toned(headline, tone_of(verdict), style), caption,
                       to_text(table, style), details_text(measured, labels, style), last);
  };
}

}  // namespace

PruneResult prune_job(const PruneJob& job, Context& context) {
  RunReport report;
  report.invocation = job.invocation;
  SparsifyOptions options = job.how;
  options.pruning.rule.seed = options.calibration.seed = options.fine_tune.training.seed = job.seed;
  options.fine_tune.training.save_steps = job.resume.save_steps;
  options.fine_tune.title = "train pruned";
  check(options);
  OutputFolder output(job.output.folder, job.output.resumable(job.resume));
  TextModel parent = open_model(job.model, context, job.seed);
  check_not_packed(parent.model, job.model);
  // What training through its quantizers left beside the rounded weights ranks without ties.
  const bool parent_is_unrounded = take_unrounded(parent.model, parent.folder);
  user_check(!parent.model.fresh_head() || !job.max_drop_points,
             "`max_drop`: {} has no classification head, so there is no accuracy to hold; leave it "
             "out, or train a head first with `hone train`",
             job.model);
  prunable_weights(parent.model.graph, options.pruning.target);
  if (options.activations) {
    Graph graph = parent.model.graph;
    prune_inputs(graph, options.pruning.target);
  }
  const EncodedSplits data = load_encoded(parent, job.model, job.data, job.split, job.seed,
                                          FiguresOf::one_model, context, report.notes);
  if (!begin_run(report.invocation, parent.model.parameters, data, output))
    return {.was_finished = true, .fields = finished_results(output)};
  const Measurement before = measure_before(parent, data, options.fine_tune.eval_batch_size,
                                            context, report.notes, "pruning");
  const PruneRun run{job, parent, parent_is_unrounded, data, before, options, output, context};
  report.title = fmt::format("{}: {}", job.model, summary(run.options));
  const std::string format = run.parent_format();
  report.basis = basis_of(job.data.options.source, data,
                          format.empty() ? std::string(kFloat) : "simulated " + format);
  const fs::path& folder = output.path();
  const Pruned pruned = prune_once(run, folder);
  report.results = pruned.result;
  report.headline = headline(run, pruned.verdict);
  report.sections = {{"Result", {PageTable{pruned.table, caption_of(run, pruned.caveat)}}}};
  if (job.max_drop_points)
    report.sections[0].blocks.push_back(Paragraph{gate_text(pruned.verdict, run.part())});
  for (const std::string& line : remarks(run, pruned))
    report.sections[0].blocks.push_back(Paragraph{line});
  report.sections.push_back({"Pruned weights", {PageTable{to_table(pruned.zeros), ""}}});
  if (!pruned.inputs.empty())
    report.sections.push_back({"Pruned activations",
                               {PageTable{to_table(pruned.inputs),
                                          "Of what is read over the texts of the calibration."}}});
  report.sections.insert(report.sections.end(), pruned.sections.begin(), pruned.sections.end());
  for (const auto& lines : {pruned.doubts, pruned.notes})
    report.notes.insert(report.notes.end(), lines.begin(), lines.end());
  write_run_report(report, folder, context);
  output.commit();
  for (const auto& lines : {pruned.doubts, pruned.notes}) tell_warnings(context, lines);
  return {.fields = pruned.result,
          .verdict = pruned.verdict,
          .part = run.part(),
          .text = text_of(run, pruned)};
}

}  // namespace hone
