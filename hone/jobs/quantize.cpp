#include "hone/jobs/quantize.h"

#include <algorithm>
#include <utility>

#include "hone/base/text.h"
#include "hone/base/usage_check.h"
#include "hone/frontends/huggingface/other_programs.h"
#include "hone/jobs/layer_figure.h"
#include "hone/jobs/learning_curve.h"
#include "hone/jobs/model_card.h"
#include "hone/jobs/run_identity.h"
#include "hone/models/transform.h"
#include "hone/models/unrounded_weights.h"
#include "hone/study/change_headline.h"
#include "hone/study/comparison_table.h"
#include "hone/study/evaluation_details.h"
#include "hone/study/seeds.h"
#include "hone/train/class_weights.h"
#include "hone/train/text_examples.h"

namespace hone {
namespace {

/// The state that all seeds of a job share.
struct QuantizeRun {
  const QuantizeJob& job;
  const TextModel& baseline;
  bool baseline_is_unrounded = false;  ///< its weights are those before rounding, stored by QAT
  const EncodedSplits& data;
  const Measurement& before;
  CompressOptions options;
  QuantizationPlan plan;  ///< of the copy: the baseline's formats, if any, and those of the options
  std::vector<Gate> gates;
  std::size_t calibration_examples = 0;  ///< from the training split; 0: the formats need none
  OutputFolder& output;
  Context& context;

  std::string label() const {
    return fmt::format("{} {}", options.qat ? "QAT" : "PTQ", summary(plan));
  }
  bool is_requantized() const { return baseline.model.quantization.has_value(); }
  /// Returns the formats of a quantized baseline, or "".
  std::string baseline_format() const {
    return is_requantized() ? summary(baseline.model.quantization->plan) : "";
  }
  QuantizedResult result(double weight_bits) const {
    QuantizedResult result{.subject = subject_result(job.model, data.identity, data.measured),
                           .format = summary(plan),
                           .method = job.qat ? "qat" : "ptq",
                           .arithmetic = std::string(kSimulated),
                           .average_weight_bits = weight_bits,
                           .quantized_modules = std::ssize(plan),
                           .protocol = to_string(data.protocol),
                           .calibration_examples = static_cast<std::int64_t>(calibration_examples)};
    if (is_requantized()) result.baseline_format = baseline_format();
    return result;
  }
  std::string split() const { return short_name_and_size(data.measured); }
  /// Returns a remark on the metrics of a model whose files have no head, or "".
  std::string without_head() const { return headless_remark(baseline.model, options.qat); }
  /// `caveat`: about the training, see `training_caveat`.
  std::string caption(const std::string& caveat) const {
    const std::string twice =
        is_requantized() ? fmt::format(
                               "The baseline is already quantized ({}); the change does not "
                               "include what that cost.",
                               baseline_format())
                         : "";
    const std::string random = without_head();
    return metrics_caption(
        before, data, {twice, caveat, random.empty() ? "" : fmt::format("Note that {}.", random)});
  }
  Graph graph() const { return unquantized_graph(baseline.model); }
};

/// A quantized model, written to its folder, with its part of the report.
struct Quantized {
  QuantizeFields fields = {};
  Document document = {};
  MetricChange change;
  Verdict verdict;
  JudgedGates gates = {};
  bool is_clearly_worse = false;  ///< see `BeforeAndAfter::is_clearly_worse`
  std::vector<LayerBar> layers;
  std::vector<std::string> doubts;  ///< about the numbers
  std::vector<std::string> notes;
};

// Returns a model quantized by rounding, or trained with a log and a learning curve in the folder.
Model quantized_copy(const QuantizeRun& run, const CompressOptions& options, const fs::path& folder,
                     Quantized& quantized) {
  if (!options.qat) return compress(run.baseline.model, run.data, options, run.context);
  TrainingLog log = training_log_in(folder, run.job.report_to);
  Model model = compress(run.baseline.model, run.data, options, log, run.context);
  quantized.fields.steps = log.steps().empty() ? 0 : log.steps().back().step;
  Section curve = learning_curve_section(log, run.label() + ", simulated; one seed",
                                         folder / "learning_curve", quantized.notes);
  if (!curve.blocks.empty()) quantized.document.sections.push_back(std::move(curve));
  return model;
}

// Returns the class weights of the training loss; empty without training or weights.
std::optional<EvaluationResult::ByName<double>> class_weights_result(
    const QuantizeRun& run, const std::vector<std::string>& labels) {
  const std::string& choice = run.options.fine_tune.class_weights;
  if (!run.job.qat || choice.empty()) return std::nullopt;
  const std::vector<float> weights = class_weights(choice, run.data.train.labels, labels);
  EvaluationResult::ByName<double> by_name;
  for (std::size_t c = 0; c < labels.size(); ++c) by_name.emplace_back(labels[c], weights[c]);
  return by_name;
}

// Describes what other programs compute with the saved model; "" if it is the same.
std::string saved_remark(const QuantizeRun& run) {
  const std::string notice = notice_for_other_programs(run.plan);
  return notice.empty() ? "" : "The saved model: " + notice + ".";
}

// "14", "14, of which 3 are new"
std::string layers_text(const QuantizeRun& run) {
  return run.is_requantized()
             ? fmt::format("{}, of which {} are new", run.plan.size(), run.options.plan.size())
             : std::to_string(run.plan.size());
}

Quantized quantize_once(const QuantizeRun& run, std::uint64_t seed, const fs::path& folder) {
  const QuantizeJob& job = run.job;
  CompressOptions options = run.options;
  options.fine_tune.training.seed = seed;
  TextModel model = run.baseline;
  model.trained_on = record_of_copy(run.baseline, run.data, options);
  if (job.qat) remember_columns(*model.trained_on, run.data.identity.columns);
  if (!job.row_hashes) model.trained_on = without_rows(model.trained_on);
  options.fine_tune.checkpoints = checkpoints_in(folder, job.resume, model, run.output);
  Quantized quantized;
  const Model unrounded = quantized_copy(run, options, folder, quantized);
  model.model = round_weights(unrounded, run.context);
  const std::int64_t batch = options.fine_tune.eval_batch_size;
  const BeforeAndAfter both =
      measure_after(model.model, run.before, run.data, batch, run.gates, run.context);
  quantized.change = both.comparison.change;
  quantized.verdict = both.verdict;
  const double weight_bits = average_weight_bits(model.model);
  std::vector<ComparedModel> compared = {
      {"baseline", average_weight_bits(run.baseline.model), run.before, std::nullopt,
       arithmetic_of_run(forward_graph(run.baseline.model), run.context.session())},
      {run.label(), weight_bits, both.after, both.comparison, kSimulated,
       both.gates.any() ? std::optional(both.verdict) : std::nullopt}};
  const auto& labels = model.model.facts.labels;
  QuantizeFields& fields = quantized.fields;
  fields.quantized = run.result(weight_bits);
  fields.both = before_and_after_result(both, labels);
  fields.seed = seed;
  fields.gate = gate_result_if_any(both.gates);
  fields.distill = distillation_result(job.distill);
  fields.class_weights = class_weights_result(run, labels);
  const std::string trained =
      fields.steps ? training_caveat(*fields.steps, *fields.steps, "quantizing") : "";
  if (const std::string caveat = job.qat ? trained : run.without_head(); !caveat.empty())
    fields.caveat = caveat;
  quantized.gates = both.gates;
  for (std::string& concern : concerns(both, labels, "quantizing"))
    quantized.doubts.push_back(std::move(concern));
  if (!notice_for_other_programs(run.plan).empty()) {
    const BeforeAndAfter elsewhere =
        measure_after(without_quantizers(model.model, run.context.session()), run.before, run.data,
                      batch, /*gates=*/{}, run.context, "as transformers");
    fields.as_transformers =
        TransformersEvaluation{evaluation_result(elsewhere.after, labels),
                               comparison_result(elsewhere.comparison, elsewhere.verdict)};
    compared.push_back({"as transformers computes it", weight_bits, elsewhere.after,
                        elsewhere.comparison, kSimulated});
  }
  Section result{"", {PageTable{comparison_table(compared), run.caption(trained)}}};
  for (Block& block : gate_blocks(both.gates, run.split()))
    result.blocks.push_back(std::move(block));
  if (run.without_head().empty())
    result.blocks.push_back(Paragraph{usage_advice(both.gates, job.output.folder)});
  std::vector<Section>& sections = quantized.document.sections;
  sections.insert(sections.begin(), std::move(result));
  sections.push_back(details_section(named_evaluations(both, run.data), labels));
  describe_change(quantized.document, run.label(), both, run.data.measured);
  if (!job.qat && !run.without_head().empty())
    quantized.document.headline = fmt::format("{}: {}", run.label(), run.without_head());
  quantized.is_clearly_worse = both.is_clearly_worse();
  quantized.document.next = {{"Store the weights in few bits",
                              fmt::format("hone pack {} -o {}", shell_word(job.output.folder),
                                          shell_word(job.output.folder + "-packed"))}};
  quantized.layers = layer_bars(unrounded, model.model, options.plan, run.graph());
  write_model(model, folder);
  if (job.qat || run.baseline_is_unrounded) write_unrounded(unrounded, model.model, folder);
  const ModelSize& size = fields.size = model_size(model.model, folder);
  const ModelSize baseline = model_size(run.baseline.model, {});
  prepend_key_figures(quantized.document, {size_fact("Size when packed (predicted)",
                                                     static_cast<double>(baseline.packed_bytes),
                                                     static_cast<double>(size.packed_bytes))});
  quantized.document.key_figures.push_back({"Layers quantized", layers_text(run)});
  for (const std::string& line : {to_text(size), saved_remark(run)})
    if (!line.empty()) sections.front().blocks.push_back(Paragraph{line});
  CardFacts facts = card_facts(fields.quantized, fields.both, seed);
  facts.caveat = fields.caveat.value_or("");
  facts.steps = fields.steps.value_or(0);
  if (fields.as_transformers) facts.in_transformers = fields.as_transformers->evaluation;
  write_model_card({job.output.name_of(folder, run.output.path()),
                    job.invocation.command,
                    std::move(facts),
                    {to_text(size)}},
                   model.model, folder);
  return quantized;
}

// Explains the losses by rounding alone, and saves a remedy in the job's folder.
Explanation explain(const QuantizeRun& run) {
  const QuantizeJob& job = run.job;
  Diagnosis diagnosis =
      diagnose(run.baseline.model, run.before, run.data, run.options, run.context);
  NextStep next = next_step({job.invocation, run.options, job.output.folder, run.output.path()},
                            diagnosis, run.graph());
  return {std::move(diagnosis), std::move(next), job.seeds};
}

// Draws the cost of each layer in `folder`: from the explanation if there is one, otherwise of rounding the weights.
Section layer_section(const QuantizeRun& run, const std::optional<Explanation>& explanation,
                      std::vector<LayerBar> weights, const fs::path& folder,
                      std::vector<std::string>& notes) {
  const std::string title =
      fmt::format("Signal-to-noise ratio of each layer's {}, {}",
                  explanation ? "operands, one layer at a time, without training" : "weights",
                  summary(run.options.plan));
  std::vector<Block> blocks = layer_figure(
      explanation ? layer_bars(explanation->diagnosis, run.graph()) : std::move(weights), title,
      folder / "layers", notes);
  return explanation ? to_section(*explanation, std::move(blocks))
                     : Section{"Layers", std::move(blocks)};
}

// Suggests commands after a clear loss.
std::vector<NextCommand> commands_with_less_loss(const QuantizeRun& run,
                                                 const std::optional<Explanation>& explanation) {
  const QuantizeJob& job = run.job;
  std::vector<NextCommand> next;
  if (explanation && !explanation->next.command.empty())
    next.push_back({explanation->diagnosis.remedy.better_parameters
                        ? "Quantize with better parameters of the same formats"
                        : "Leave the noisiest operands in full precision",
                    explanation->next.command});
  if (!job.qat && job.invocation.command_with)
    next.push_back(
        {"Train through the quantizers",
         job.invocation.command_with({{"qat", "true"},
                                      {"explain", ""},
                                      {"overwrite_output_dir", ""},
                                      {"output_dir", unused_name(job.output.folder, "-qat")}})});
  return next;
}

QuantizeResult quantize_one_seed(const QuantizeRun& run, QuantizeResult result) {
  const QuantizeJob& job = run.job;
  const fs::path& folder = run.output.path();
  Quantized quantized = quantize_once(run, job.seed, folder);
  std::optional<Explanation> explanation;
  if (job.explain || worth_explaining(quantized.change)) {
    explanation = explain(run);
    quantized.fields.diagnosis = diagnosis_result(*explanation, run.graph());
  }
  if (quantized.is_clearly_worse) {
    std::vector<NextCommand>& next = quantized.document.next;
    const std::vector<NextCommand> first = commands_with_less_loss(run, explanation);
    next.insert(next.begin(), first.begin(), first.end());
  }
  quantized.document.sections.push_back(
      layer_section(run, explanation, std::move(quantized.layers), folder, quantized.notes));
  quantized.document.title = std::move(result.document.title);
  quantized.document.output = job.output.folder;
  quantized.document.notes = std::move(result.document.notes);
  for (const auto& lines : {quantized.doubts, quantized.notes})
    quantized.document.notes.insert(quantized.document.notes.end(), lines.begin(), lines.end());
  result.document = std::move(quantized.document);
  result.fields = to_json(quantized.fields);
  result.verdict = quantized.verdict;
  result.gate = outcome_of(quantized.gates);
  write_report(result, job.invocation, folder, run.context);
  run.output.commit();
  for (const auto& lines : {quantized.doubts, quantized.notes}) print_warnings(run.context, lines);
  return result;
}

// Returns the results of all seeds, including those of an earlier run.
std::vector<Json> results_of_seeds(const QuantizeRun& run) {
  std::vector<Json> results;
  for (const SeedFolder& seed : seed_folders(run.output.path(), run.job.seed, run.job.seeds)) {
    if (!seed.done) {
      Quantized quantized = quantize_once(run, seed.seed, seed.path);
      layer_section(run, std::nullopt, std::move(quantized.layers), seed.path, quantized.notes);
      print_warnings(run.context, quantized.notes);
      write_results("quantize", to_json(quantized.fields), seed.path);
    }
    results.push_back(read_json(seed.path / "results.json"));
  }
  return results;
}

QuantizeResult quantize_seeds(const QuantizeRun& run, QuantizeResult made) {
  const QuantizeJob& job = run.job;
  const fs::path& folder = run.output.path();
  const std::vector<Json> results = results_of_seeds(run);
  const SeedChanges changes = seed_changes(results);
  const std::vector<MetricsKey> figures = before_and_after_names(run.data), after = {figures[1]};
  const Table table = seed_table(results, figures);
  const Verdict change = verdict_of_seeds(changes, margin_for(run.gates, changes.metric()));
  const JudgedGates gates = judge_seeds(run.gates, results);
  const std::string spread =
      fmt::format("After, on {}: {}.", run.split(), seed_sentence(metric_spread(results, "after")));
  std::optional<Explanation> explanation;
  if (job.explain || std::ranges::any_of(changes.changes, worth_explaining))
    explanation = explain(run);
  auto first = from_json<QuantizeFields>(results.front());
  const std::string caveat = training_caveat(results, "quantizing"), caption = run.caption(caveat);
  QuantizeSeedsFields fields{.quantized = std::move(first.quantized),
                             .size = first.size,
                             .class_weights = std::move(first.class_weights),
                             .distill = std::move(first.distill),
                             .seeds = change_seeds_result(results, changes, change, gates)};
  if (!caveat.empty()) fields.caveat = caveat;
  if (explanation) fields.diagnosis = diagnosis_result(*explanation, run.graph());
  made.fields = to_json(fields);
  made.basis.seeds = job.seeds;
  made.verdict = change;
  made.gate = outcome_of(gates);
  Document& document = made.document;
  describe_seeds(document, fmt::format("{}, {} seeds", run.label(), job.seeds), results, changes,
                 change, gates, name_and_size(run.data.measured));
  document.output = job.output.folder;
  std::vector<std::string> figure_notes;
  const Figure dots = seed_figure(
      results, figures, fmt::format("{}, {}; {} seeds", run.label(), run.split(), job.seeds));
  document.sections = {
      {"",
       {PageTable{table, caption}, Paragraph{spread},
        figure_block(dots, folder / "seeds",
                     metric_title(changes.metric()) + " after, a dot for each seed, and before",
                     figure_notes)}}};
  std::vector<Block>& blocks = document.sections[0].blocks;
  for (Block& block : gate_blocks(gates, run.split())) blocks.push_back(std::move(block));
  if (const std::string remark = saved_remark(run); !remark.empty())
    blocks.push_back(Paragraph{remark});
  if (explanation)
    document.sections.push_back(layer_section(run, explanation, {}, folder, figure_notes));
  document.sections.push_back(details_section_of_seeds(results, after));
  const std::vector<std::string> doubts = seed_concerns(results, after);
  for (const auto& lines : {figure_notes, doubts})
    document.notes.insert(document.notes.end(), lines.begin(), lines.end());
  for (const auto& lines : {doubts, figure_notes}) print_warnings(run.context, lines);
  write_report(made, job.invocation, folder, run.context);
  run.output.commit();
  return made;
}

constexpr std::string_view
    kClassWeightsMeaning = "Weight of each class in the loss; null without --class_weights.",
    kDiagnosisMeaning =
        "Where the accuracy is lost; null: little is lost, and --explain was not given.";

}  // namespace

const Fields& fields_of(const QuantizedResult*) {
  using Q = QuantizedResult;
  static const Fields fields = describe<Q>(
      "quantized", "A quantized model.", inlined<&Q::subject>(),
      field<&Q::format>("format", "Of the layers."),
      field<&Q::baseline_format>("baseline_format",
                                 "Format of the baseline; null: it is not quantized."),
      field<&Q::method>("method",
                        "ptq: rounded after training; qat: trained through the quantizers."),
      field<&Q::arithmetic>("arithmetic", kArithmeticMeaning),
      field<&Q::average_weight_bits>("average_weight_bits", Unit::bits, kWeightBitsMeaning),
      field<&Q::quantized_modules>("quantized_modules", "Operations with quantizers."),
      field<&Q::protocol>("protocol",
                          "honest: choices are made on the validation split; original: on the test "
                          "split."),
      field<&Q::calibration_examples>("calibration_examples", Unit::examples,
                                      "Training examples that quantizers were calibrated on."));
  return fields;
}

CardFacts card_facts(const QuantizedResult& quantized, const BeforeAndAfterResult& both,
                     std::uint64_t seed) {
  const bool qat = quantized.method == "qat";
  CardFacts facts = facts_of_change(
      quantized.subject, both,
      quantized.baseline_format
          ? fmt::format("before, quantized already ({})", markdown_code(*quantized.baseline_format))
          : "before quantization");
  facts.origin = fmt::format("{} quantized to {} ({})", markdown_code(facts.base),
                             markdown_code(quantized.format),
                             qat ? "trained through the quantizers" : "rounded after training");
  facts.relation = "quantized";
  facts.trained_on_data = true;
  facts.seed = seed;
  facts.format = quantized.format;
  // These cautions concern the baseline; QAT has trained its head.
  if (qat)
    for (CardRow& row : facts.rows)
      for (std::string& caution : row.split.cautions)
        if (caution.starts_with("untrained ")) caution += " before that training";
  return facts;
}

const Fields& fields_of(const TransformersEvaluation*) {
  using T = TransformersEvaluation;
  static const Fields fields = describe<T>(
      "transformers_evaluation",
      "The saved model as transformers computes it: without quantizers of layer inputs.",
      inlined<&T::evaluation>(), field<&T::comparison>("comparison", "With the baseline."));
  return fields;
}

const Fields& fields_of(const QuantizeFields*) {
  using Q = QuantizeFields;
  static const Fields fields = describe<Q>(
      "quantize", "A quantized model compared with its baseline.", inlined<&Q::quantized>(),
      inlined<&Q::both>(), field<&Q::seed>("seed", "Of calibration and training."),
      field<&Q::seeds>("seeds", Unit::seeds, "Number of seeds: 1."),
      field<&Q::gate>("gate", "Whether the gates hold; null: none were given."),
      field<&Q::size>("size", "Size of the weights."),
      field<&Q::class_weights>("class_weights", kClassWeightsMeaning),
      field<&Q::distill>("distill", kDistillMeaning),
      field<&Q::as_transformers>("as_transformers",
                                 "The saved model in transformers; null: it computes the same."),
      field<&Q::steps>("steps", Unit::steps, "Training steps; null without --qat."),
      field<&Q::caveat>("caveat",
                        "What the change includes besides quantization, or that the model has no "
                        "head; null: nothing."),
      field<&Q::diagnosis>("diagnosis", kDiagnosisMeaning));
  return fields;
}

const Fields& fields_of(const QuantizeSeedsFields*) {
  using Q = QuantizeSeedsFields;
  static const Fields fields = describe<Q>(
      "quantize", "Models quantized with several seeds, compared with their baseline.",
      inlined<&Q::quantized>(), field<&Q::size>("size", "Size of the weights of one model."),
      field<&Q::class_weights>("class_weights", kClassWeightsMeaning),
      field<&Q::distill>("distill", kDistillMeaning), inlined<&Q::seeds>(),
      field<&Q::caveat>("caveat", "What the change includes besides quantization; null: nothing."),
      field<&Q::diagnosis>("diagnosis", kDiagnosisMeaning));
  return fields;
}

QuantizeResult quantize_job(const QuantizeJob& job, Context& context) {
  usage_check(job.seeds == 1 || job.qat,
              "`seeds` needs `qat`: quantization without training is deterministic, so all seeds "
              "would give the same model");
  usage_check(job.distill.teacher.empty() || job.qat,
              "`distill` needs `qat`, which trains the quantized model with a teacher");
  QuantizeResult result;
  CompressOptions options{
      .qat = job.qat, .fine_tune = job.training, .calibration = job.calibration};
  options.fine_tune.training.save_steps = job.resume.save_steps;
  options.fine_tune.title = "train quantized";
  OutputFolder output(job.output.folder, job.output.resumable(job.resume));
  TextModel baseline = open_model(job.model, context, job.seed);
  check_not_packed(baseline.model, job.model);
  baseline.trained_on = record_with_teacher(baseline.trained_on, job.distill);
  // Weights that QAT stored before rounding compute the same, and training can continue from them.
  const bool baseline_is_unrounded = load_unrounded(baseline.model, baseline.folder);
  const std::vector<Gate> gates = gates_of(job.gates, baseline.model, job.model);
  options.plan = resolve(job.recipe, unquantized_graph(baseline.model));
  options.sparsities = resolve_sparsities(job.recipe, unquantized_graph(baseline.model));
  const QuantizationPlan plan =
      with_context(job.model, [&] { return combined_plan(baseline.model, options.plan); });
  std::optional<Teacher> teacher;
  const EncodedSplits data = load_encoded(
      baseline, job.model, job.data, job.split, job.seed, MetricsOf::one_model, context,
      result.document.notes,
      [&](const DataSet& texts, const EvaluationExamples&, std::vector<std::string>& warnings) {
        teacher = open_teacher(job.distill, baseline.model, texts, job.data.cut, context, warnings);
      });
  if (!begin_run(job.invocation, baseline.model.parameters, data, output,
                 teacher ? &*teacher : nullptr))
    return finished<QuantizeResult>(output, job.output);
  const Measurement before = measure_before(baseline, data, options.fine_tune.eval_batch_size,
                                            context, result.document.notes);
  const std::size_t calibration_examples = calibration_rows(baseline.model, data, options).size();
  if (calibration_examples > 0) {
    result.document.notes.push_back(
        fmt::format("calibrated on {} of {} training examples, sampled with seed {}",
                    grouped(static_cast<long long>(calibration_examples)),
                    grouped(data.train.size()), job.seed));
    print_notes(context, {result.document.notes.back()});
  }
  if (teacher)
    add_teacher_logits(*std::exchange(teacher, std::nullopt), data.train, job.distill, job.seed,
                       job.seeds, options.fine_tune, context);
  const QuantizeRun run{job,  baseline, baseline_is_unrounded, data,   before, options,
                        plan, gates,    calibration_examples,  output, context};
  result.document.title = fmt::format("{} quantized: {}", job.model, run.label());
  result.basis = basis_of(job.data.options.source, data, "simulated " + summary(plan));
  return job.seeds == 1 ? quantize_one_seed(run, std::move(result))
                        : quantize_seeds(run, std::move(result));
}

}  // namespace hone
