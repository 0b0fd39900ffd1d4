#include "hone/jobs/prune/pruned_report.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "hone/base/text.h"
#include "hone/base/usage_check.h"
#include "hone/jobs/compress.h"
#include "hone/jobs/learning_curve.h"
#include "hone/jobs/model_card.h"
#include "hone/jobs/run_identity.h"
#include "hone/passes/quantize.h"
#include "hone/study/change_headline.h"
#include "hone/study/comparison_table.h"
#include "hone/study/evaluation_details.h"
#include "hone/study/seeds.h"

namespace hone {
namespace {

std::string split_text(const PruneReport& run) { return name_and_size(run.data.measured); }

std::string caption_of(const PruneReport& run, const std::string& caveat) {
  const auto& quantization = run.baseline.model.quantization;
  const std::string random = headless_remark(run.baseline.model, run.job.how.trains);
  return metrics_caption(
      run.before, run.data,
      {!quantization
           ? ""
           : fmt::format("Both models are quantized ({}); the change is that of pruning only.",
                         summary(quantization->plan)),
       caveat, random.empty() ? "" : fmt::format("Note that {}.", random)});
}

void add_notes(const PruneReport& run, const std::vector<std::string>& lines, JobResult& result) {
  result.document.notes.insert(result.document.notes.end(), lines.begin(), lines.end());
  print_warnings(run.context, lines);
}

JobResult report_one(const PruneReport& run, JobResult result, PrunedModel pruned) {
  pruned.document.title = std::move(result.document.title);
  pruned.document.output = run.job.output.folder;
  pruned.document.notes = std::move(result.document.notes);
  result.document = std::move(pruned.document);
  result.fields = std::move(pruned.fields);
  result.gate = outcome_of(pruned.gates);
  add_notes(run, pruned.metric_warnings, result);
  add_notes(run, pruned.notes, result);
  write_report(result, run.job.invocation, run.output.path(), run.context);
  run.output.commit();
  return result;
}

// Returns the results of all seeds, including those that an earlier run completed.
std::vector<Json> results_of_seeds(
    const PruneReport& run,
    const std::function<PrunedModel(std::uint64_t, const fs::path&)>& prune_once) {
  std::vector<Json> results;
  for (const SeedFolder& seed : seed_folders(run.output.path(), run.job.seed, run.job.seeds)) {
    if (!seed.done) {
      const PrunedModel pruned = prune_once(seed.seed, seed.path);
      print_warnings(run.context, pruned.notes);
      write_results("prune", pruned.fields, seed.path);
    }
    results.push_back(read_json(seed.path / "results.json"));
  }
  return results;
}

JobResult report_seeds(const PruneReport& run, JobResult made, const std::vector<Json>& results) {
  const PruneJob& job = run.job;
  const SeedChanges changes = seed_changes(results);
  const std::vector<MetricsKey> figures = before_and_after_names(run.data), after = {figures[1]};
  const Verdict change = verdict_of_seeds(changes, margin_for(run.gates, changes.metric()));
  const JudgedGates gates = judge_seeds(run.gates, results);
  const std::string caveat = training_caveat(results, "pruning");
  PruneSeedsFields fields{.pruning = from_json<PruningResult>(results.front()),
                          .loading = from_json<LoadingResult>(results.front()),
                          .seeds = change_seeds_result(results, changes, change, gates)};
  if (!caveat.empty()) fields.caveat = caveat;
  made.fields = to_json(fields);
  made.basis.seeds = job.seeds;
  made.gate = outcome_of(gates);
  Document& document = made.document;
  describe_seeds(document, fmt::format("{}, {} seeds", capitalized(run.label), job.seeds), results,
                 changes, change, gates, split_text(run));
  document.output = job.output.folder;
  std::vector<std::string> metric_warnings = seed_concerns(results, after);
  const Figure dots = seed_figure(
      results, figures, fmt::format("{}, {}; {} seeds", run.label, split_text(run), job.seeds));
  document.sections = {
      {"",
       {PageTable{seed_table(results, figures), caption_of(run, caveat)},
        Paragraph{fmt::format("After pruning, on {}: {}.", split_text(run),
                              seed_sentence(metric_spread(results, "after")))},
        Paragraph{"The model card of each seed lists what was removed, its size and its latency."},
        figure_block(dots, run.output.path() / "seeds",
                     metric_title(changes.metric()) + " of each seed, and of the baseline",
                     metric_warnings)}}};
  for (Block& block : gate_blocks(gates, split_text(run)))
    document.sections[0].blocks.push_back(std::move(block));
  document.sections.push_back(details_section_of_seeds(results, after));
  add_notes(run, metric_warnings, made);
  write_report(made, job.invocation, run.output.path(), run.context);
  run.output.commit();
  return made;
}

}  // namespace

void check_prune_job(const PruneJob& job, bool draws) {
  usage_check(job.distill.teacher.empty() || job.how.trains,
              "`distill` needs training; give `epochs` or `max_steps`");
  usage_check(job.seeds == 1 || draws,
              "`seeds` repeats a job with randomness: training, random pruning or calibration on "
              "examples; this one has none, so all seeds would give the same model");
}

std::optional<EncodedSplits> load_with_teacher(const PruneJob& job, TextModel& baseline,
                                               OutputFolder& output, FineTuneOptions& fine_tune,
                                               std::vector<std::string>& notes, Context& context) {
  baseline.trained_on = record_with_teacher(baseline.trained_on, job.distill);
  std::optional<Teacher> teacher;
  EncodedSplits data = load_encoded(
      baseline, job.model, job.data, job.split, job.seed, MetricsOf::one_model, context, notes,
      [&](const DataSet& texts, const EvaluationExamples&, std::vector<std::string>& warnings) {
        teacher = open_teacher(job.distill, baseline.model, texts, job.data.cut, context, warnings);
      });
  if (!begin_run(job.invocation, baseline.model.parameters, data, output,
                 teacher ? &*teacher : nullptr))
    return std::nullopt;
  if (teacher)
    add_teacher_logits(*std::exchange(teacher, std::nullopt), data.train, job.distill, job.seed,
                       job.seeds, fine_tune, context);
  return data;
}

std::int64_t add_learning_curve(const PruneReport& run, const TrainingLog& log,
                                const fs::path& folder, PrunedModel& pruned) {
  Section curve = learning_curve_section(log, run.label + "; one seed", folder / "learning_curve",
                                         pruned.notes);
  if (!curve.blocks.empty()) pruned.document.sections.push_back(std::move(curve));
  return log.steps().empty() ? 0 : log.steps().back().step;
}

void measure_pruned(const PruneReport& run, const Model& after, std::uint64_t seed,
                    std::int64_t steps, PrunedModel& pruned) {
  const PruneJob& job = run.job;
  const Model& baseline = run.baseline.model;
  const BeforeAndAfter both = measure_after(
      after, run.before, run.data, job.how.fine_tune.eval_batch_size, run.gates, run.context);
  pruned.gates = both.gates;
  pruned.is_clearly_worse = both.is_clearly_worse();
  const auto& labels = after.facts.labels;
  const double weight_bits = average_weight_bits(after);
  const std::string_view arithmetic =
      arithmetic_of_run(forward_graph(after), run.context.session());
  PrunedModelResult& measured = pruned.measured;
  measured.pruning = {.subject = subject_result(job.model, run.data.identity, run.data.measured),
                      .distill = distillation_result(job.distill),
                      .arithmetic = std::string(arithmetic),
                      .average_weight_bits = weight_bits,
                      .protocol = to_string(run.data.protocol)};
  if (after.quantization) measured.pruning.format = summary(after.quantization->plan);
  measured.both = before_and_after_result(both, labels);
  measured.seed = seed;
  measured.gate = gate_result_if_any(both.gates);
  if (job.how.trains) measured.steps = steps;
  const std::string caveat = training_caveat(steps, steps, "pruning");
  if (!caveat.empty()) measured.caveat = caveat;
  for (std::string& concern : concerns(both, labels, "pruning"))
    pruned.metric_warnings.push_back(std::move(concern));
  Document& document = pruned.document;
  describe_change(document, capitalized(run.label), both, run.data.measured);
  if (const std::string random = headless_remark(baseline, job.how.trains);
      !job.how.trains && !random.empty())
    document.headline = fmt::format("{}: {}", capitalized(run.label), random);
  Section first{
      "",
      {PageTable{
          comparison_table({{"baseline", average_weight_bits(baseline), run.before, std::nullopt,
                             arithmetic_of_run(forward_graph(baseline), run.context.session())},
                            {run.label, weight_bits, both.after, both.comparison, arithmetic,
                             both.gates.any() ? std::optional(both.verdict) : std::nullopt}}),
          caption_of(run, caveat)}}};
  for (Block& block : gate_blocks(both.gates, split_text(run)))
    first.blocks.push_back(std::move(block));
  if (headless_remark(baseline, job.how.trains).empty()) {
    first.blocks.push_back(Paragraph{usage_advice(both.gates, job.output.folder)});
    if (!both.gates.any())
      document.next.push_back(
          command_to_test_limit(job.model, job.output.folder, job.data.options.source));
  }
  document.sections.insert(document.sections.begin(), std::move(first));
  document.sections.push_back(details_section(named_evaluations(both, run.data), labels));
}

CardFacts card_facts(const PrunedModel& pruned) {
  const PrunedModelResult& measured = pruned.measured;
  CardFacts facts = facts_of_change(measured.pruning.subject, measured.both, "before pruning");
  facts.origin =
      fmt::format("{} pruned ({}){}", markdown_code(facts.base),
                  markdown_code(measured.pruning.pruning), measured.steps ? " and trained" : "");
  facts.relation = "finetune";
  facts.tags = {"pruned"};
  facts.caveat = measured.caveat.value_or("");
  facts.trained_on_data = true;
  facts.seed = measured.seed;
  facts.steps = measured.steps.value_or(0);
  facts.format = measured.pruning.format;
  facts.limits = pruned.limits;
  return facts;
}

SizeAndTime size_and_time_of_pruned(const PruneReport& run, const Model& after,
                                    const fs::path& folder) {
  SizeAndTime found =
      arithmetic_of(run.baseline.model.graph) == kSimulated
          ? size_without_time(run.baseline, after, folder, run.context)
          : size_and_time(run.baseline, run.data.test, after, run.data.test, folder, run.context);
  found.models = fmt::format("{} {}", shell_word(run.job.model),
                             shell_word(run.job.output.name_of(folder, run.output.path())));
  return found;
}

void finish_pruned(const PruneReport& run, const Model& after, const SizeAndTime& size_and_time,
                   const std::vector<std::string>& removed, std::vector<Section> tables,
                   const fs::path& folder, PrunedModel& pruned) {
  std::vector<std::string> lines = removed;
  for (std::string& line : lines_of(size_and_time)) lines.push_back(std::move(line));
  write_model_card({run.job.output.name_of(folder, run.output.path()), run.job.invocation.command,
                    card_facts(pruned), lines},
                   after, folder);
  Document& document = pruned.document;
  prepend_key_figures(document, size_and_latency_facts(size_and_time));
  std::vector<Section>& sections = document.sections;
  for (const std::string& line : removed) sections.front().blocks.push_back(Paragraph{line});
  if (size_and_time.times.empty())
    sections.front().blocks.push_back(
        Paragraph{"Latencies were not measured, because the formats are simulated: `hone quantize "
                  "--native` makes a model that computes in them."});
  sections.front().blocks.push_back(Paragraph{loading_text(after)});
  tables.push_back(size_and_latency_section(size_and_time));
  sections.insert(sections.begin() + 1, std::make_move_iterator(tables.begin()),
                  std::make_move_iterator(tables.end()));
}

JobResult report_pruned(
    const PruneReport& run, JobResult result,
    const std::function<PrunedModel(std::uint64_t, const fs::path&)>& prune_once) {
  result.document.title = fmt::format("{}: {}", run.job.model, run.label);
  const auto& quantization = run.baseline.model.quantization;
  result.basis =
      basis_of(run.job.data.options.source, run.data,
               quantization ? "simulated " + summary(quantization->plan) : std::string(kFloat));
  if (run.job.seeds > 1)
    return report_seeds(run, std::move(result), results_of_seeds(run, prune_once));
  return report_one(run, std::move(result), prune_once(run.job.seed, run.output.path()));
}

}  // namespace hone
