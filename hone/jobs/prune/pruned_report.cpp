#include "hone/jobs/prune/pruned_report.h"

#include <algorithm>

#include "hone/base/text.h"
#include "hone/base/usage_check.h"
#include "hone/jobs/before_and_after.h"
#include "hone/jobs/compress.h"
#include "hone/jobs/learning_curve.h"
#include "hone/jobs/quantize.h"
#include "hone/study/comparison_table.h"
#include "hone/study/result.h"
#include "hone/study/seeds.h"

namespace hone {
namespace {

std::string part_of(const PruneReport& run) { return name_and_size(run.data.measured); }

std::string headline(const PruneReport& run, const Verdict& verdict) {
  const std::string random = headless_remark(run.parent.model, run.job.how.trains);
  if (!run.job.how.trains && !random.empty()) return fmt::format("{}: {}.", run.label, random);
  return fmt::format("{}, {}: {}.", run.label, part_of(run), verdict.summary);
}

// What a change after training holds beside the pruning. `results`: of every seed.
std::string training_caveat_of(const std::vector<Json>& results) {
  std::vector<std::int64_t> steps;
  for (const Json& result : results) steps.push_back(result.value("steps", std::int64_t{0}));
  const auto [least, most] = std::ranges::minmax(steps);
  return training_caveat(least, most, "pruning");
}

std::string caption_of(const PruneReport& run, const std::vector<Json>& results) {
  const auto& quantization = run.parent.model.quantization;
  const std::string random = headless_remark(run.parent.model, run.job.how.trains);
  return figures_caption(
      run.before, run.data,
      {!quantization ? ""
                     : fmt::format("Both models are quantized ({}): what that has cost is no part "
                                   "of the change.",
                                   summary(quantization->plan)),
       training_caveat_of(results), random.empty() ? "" : fmt::format("Note that {}.", random)});
}

PruneResult report_one(const PruneReport& run, RunReport report, const PrunedModel& pruned) {
  const PruneJob& job = run.job;
  const std::string caption = caption_of(run, {pruned.result});
  report.results = pruned.result;
  report.headline = headline(run, pruned.verdict);
  report.sections = {{"Result", {PageTable{pruned.table, caption}}}};
  for (Block& block : gate_blocks(pruned.gates, part_of(run)))
    report.sections[0].blocks.push_back(std::move(block));
  for (const std::string& line : pruned.lines) report.sections[0].blocks.push_back(Paragraph{line});
  report.sections.insert(report.sections.end(), pruned.sections.begin(), pruned.sections.end());
  for (const auto& lines : {pruned.doubts, pruned.notes}) {
    report.notes.insert(report.notes.end(), lines.begin(), lines.end());
    tell_warnings(run.context, lines);
  }
  write_run_report(report, run.output.path(), run.context);
  run.output.commit();
  std::string last = fmt::format("One seed; written to {}\n", job.output.folder);
  for (const std::string& line : pruned.lines) last += line + "\n";
  return {.fields = pruned.result,
          .verdict = pruned.verdict,
          .gate = outcome_of(pruned.gates, part_of(run)),
          .text = [=, headline = report.headline, verdict = pruned.verdict, table = pruned.table,
                   gates = pruned.gates, part = part_of(run), measured = pruned.measured,
                   labels = run.parent.model.facts.labels](const TextStyle& style) {
            return fmt::format("{}\n\n{}\n\n{}\n{}{}{}", toned(headline, tone_of(verdict), style),
                               caption, to_text(table, style), gate_text(gates, part, style),
                               details_text(measured, labels, style), last);
          }};
}

// The results of all seeds, those that an earlier run has left among them.
std::vector<Json> results_of_seeds(
    const PruneReport& run,
    const std::function<PrunedModel(std::uint64_t, const fs::path&)>& prune_once) {
  std::vector<Json> results;
  for (const SeedFolder& seed : seed_folders(run.output.path(), run.job.seed, run.job.seeds)) {
    if (!seed.done) {
      const PrunedModel pruned = prune_once(seed.seed, seed.path);
      tell_warnings(run.context, pruned.notes);
      write_results("prune", pruned.result, seed.path);
    }
    results.push_back(read_json(seed.path / "results.json"));
  }
  return results;
}

// What is the same of all seeds.
constexpr const char* kShared[] = {"format",     "pruning",  "method",      "scope",
                                   "structure",  "schedule", "activations", "sparsity",
                                   "arithmetic", "protocol", "others_load", "others_load_reason"};

PruneResult report_seeds(const PruneReport& run, RunReport report,
                         const std::vector<Json>& results) {
  const PruneJob& job = run.job;
  const SeedChanges changes = seed_changes(results);
  const std::vector<NamedFigures> figures = before_and_after_figures(run.data),
                                  after = {figures[1]};
  const Table table = seed_table(results, figures);
  const Verdict change = verdict_of_seeds(changes, margin_for(run.gates, changes.figure()));
  const JudgedGates gates = judge_seeds(run.gates, results);
  const std::string spread = fmt::format("After, on {}: {}.", part_of(run),
                                         seed_sentence(figure_spread(results, "after")));
  const std::string where = fmt::format(
      "What each took out, and what it takes now, stands in the cards of {} folders.", job.seeds);
  const std::string caption = caption_of(run, results), caveat = training_caveat_of(results);
  Json result = subject_of(job.model, run.data.identity, run.data.measured);
  for (const char* key : kShared)
    if (results.front().contains(key)) result[key] = results.front()[key];
  result["change"] = paired_json(changes, change);
  if (!caveat.empty()) result["caveat"] = caveat;
  result.update(runs_json(results, figures));
  if (gates.any()) result["gate"] = to_json(gates);
  report.results = result;
  report.basis.seeds = job.seeds;
  report.headline = headline(run, change);
  std::vector<std::string> doubts = seed_concerns(results, after);
  const Figure dots = seed_figure(
      results, figures, fmt::format("{}, {}; {} seeds", run.label, part_of(run), job.seeds));
  report.sections = {
      {"Result",
       {PageTable{table, caption}, Paragraph{spread}, Paragraph{where},
        figure_block(dots, run.output.path() / "seeds",
                     figure_title(changes.figure()) + " after, a dot for each seed, and before",
                     doubts)}}};
  for (Block& block : gate_blocks(gates, part_of(run)))
    report.sections[0].blocks.push_back(std::move(block));
  Section classes = details_section_of_seeds(results, after);
  if (!classes.blocks.empty()) report.sections.push_back(std::move(classes));
  tell_warnings(run.context, doubts);
  report.notes.insert(report.notes.end(), doubts.begin(), doubts.end());
  write_run_report(report, run.output.path(), run.context);
  run.output.commit();
  return {.fields = result,
          .verdict = change,
          .gate = outcome_of(gates, part_of(run)),
          .text = [=, headline = report.headline, part = part_of(run),
                   folder = job.output.folder](const TextStyle& style) {
            return fmt::format("{}\n\n{}\n\n{}\n{}{}\n{}\n\n{}written to {}\n",
                               toned(headline, tone_of(change), style), caption,
                               to_text(table, style), gate_text(gates, part, style), spread, where,
                               details_text_of_seeds(results, after, style), folder);
          }};
}

}  // namespace

void check_seeds(const PruneJob& job, bool draws) {
  usage_check(
      job.seeds == 1 || draws,
      "`seeds` repeats what is drawn at random, a training or what is chosen by texts or chance; "
      "here nothing is, so all seeds would give the same model");
}

std::int64_t show_training(const PruneReport& run, const TrainingLog& log, const fs::path& folder,
                           PrunedModel& pruned) {
  Section curve = learning_curve_section(log, run.label + "; one seed", folder / "learning_curve",
                                         pruned.notes);
  if (!curve.blocks.empty()) pruned.sections.push_back(std::move(curve));
  return log.steps().empty() ? 0 : log.steps().back().step;
}

void measure_pruned(const PruneReport& run, const Model& after, std::uint64_t seed,
                    std::int64_t steps, PrunedModel& pruned) {
  const PruneJob& job = run.job;
  const Model& parent = run.parent.model;
  const BeforeAndAfter both = measure_after(
      after, run.before, run.data, job.how.fine_tune.eval_batch_size, run.gates, run.context);
  pruned.verdict = both.verdict;
  pruned.gates = both.gates;
  const auto& labels = after.facts.labels;
  const double weight_bits = average_weight_bits(after);
  const std::string_view arithmetic = arithmetic_of(after.graph);
  pruned.table = comparison_table(
      {{"before", average_weight_bits(parent), run.before, std::nullopt,
        arithmetic_of(parent.graph)},
       {run.label, weight_bits, both.after, both.comparison, arithmetic, both.verdict}});
  pruned.result = subject_of(job.model, run.data.identity, run.data.measured);
  pruned.result.update(
      {{"format", after.quantization ? Json(summary(after.quantization->plan)) : Json()},
       {"arithmetic", arithmetic},
       {"average_weight_bits", weight_bits},
       {"protocol", to_string(run.data.protocol)},
       {"seed", seed},
       {"seeds", 1}});
  pruned.result.update(to_json(both, labels));
  if (job.how.trains) pruned.result["steps"] = steps;
  if (const std::string caveat = training_caveat(steps, steps, "pruning"); !caveat.empty())
    pruned.result["caveat"] = caveat;
  for (std::string& concern : concerns(both, labels, "pruning"))
    pruned.doubts.push_back(std::move(concern));
  pruned.measured = named_evaluations(both, run.data);
  pruned.sections.push_back(details_section(pruned.measured, labels));
}

PruneResult report_pruned(
    const PruneReport& run, RunReport report,
    const std::function<PrunedModel(std::uint64_t, const fs::path&)>& prune_once) {
  report.title = fmt::format("{}: {}", run.job.model, run.label);
  const auto& quantization = run.parent.model.quantization;
  report.basis =
      basis_of(run.job.data.options.source, run.data,
               quantization ? "simulated " + summary(quantization->plan) : std::string(kFloat));
  if (run.job.seeds > 1)
    return report_seeds(run, std::move(report), results_of_seeds(run, prune_once));
  return report_one(run, std::move(report), prune_once(run.job.seed, run.output.path()));
}

}  // namespace hone
