#include "hone/jobs/prune/sparsity_study.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "hone/base/percentage.h"
#include "hone/base/text.h"
#include "hone/base/usage_check.h"
#include "hone/jobs/candidate_curve.h"
#include "hone/jobs/compress.h"

namespace hone {
namespace {

// "L1": the name of a method in sentences and legends.
std::string title_of(PruneMethod method) {
  return method == PruneMethod::l1 ? "L1" : std::string(to_string(method));
}

void check(const std::vector<double>& sparsities) {
  usage_check(!sparsities.empty(), "`sparsities`: expected at least one");
  for (const double sparsity : sparsities)
    usage_check(sparsity > 0 && sparsity < 1,
                "`sparsities`: expected shares between 0 and 1, got {}", sparsity);
}

// The order of the tests, fixed before anything is measured.
std::vector<double> lowest_first(std::vector<double> sparsities) {
  std::ranges::sort(sparsities);
  sparsities.erase(std::unique(sparsities.begin(), sparsities.end()), sparsities.end());
  return sparsities;
}

SparsityCurve study_method(PruneMethod method, const Model& baseline,
                           const EncodedSplits& learned_from, const SparsityStudyOptions& options,
                           const Choice& choice, const EncodedSet& examples,
                           SequentialSelection& selection, Context& context) {
  SparsityCurve curve{method, {}};
  for (const double sparsity : lowest_first(options.sparsities)) {
    SparsifyOptions how = options.how;
    how.pruning.rule.sparsity = sparsity;
    how.pruning.rule.method = method;
    how.cubic = method == PruneMethod::movement;
    if (options.prune_activations) how.activations = sparsity;
    const std::string name = fmt::format("{}-{}", to_string(method), sparsity);
    how.fine_tune.title = "train " + name;
    if (options.checkpoints_of) how.fine_tune.checkpoints = options.checkpoints_of(name);
    TrainingLog log;
    // Measures the model as it would be saved.
    const Model model = round_weights(sparsify(baseline, learned_from, how, log, context), context);
    curve.results.push_back({sparsity, compared(model, summary(how), choice.baseline, examples,
                                                how.fine_tune.eval_batch_size, context)});
    selection.consider(curve.results.size() - 1, model, curve.results.back().model);
  }
  std::vector<ComparedModel*> candidates;
  for (SparsityResult& result : curve.results) candidates.push_back(&result.model);
  judge_in_sequence(candidates);
  curve.kept = selection.kept;
  return curve;
}

std::vector<const ComparedModel*> chosen_models(const SparsityStudy& study) {
  std::vector<const ComparedModel*> chosen;
  for (const SparsityCurve& curve : study.curves)
    if (curve.kept) chosen.push_back(&curve.results[*curve.kept].model);
  return chosen;
}

Figure sparsity_figure(const SparsityStudy& study) {
  std::vector<CandidateCurve> curves;
  for (const SparsityCurve& curve : study.curves) {
    curves.push_back({title_of(curve.method), {}});
    for (const SparsityResult& result : curve.results)
      curves.back().points.push_back({100 * result.sparsity, &result.model});
  }
  return candidate_figure(
      fmt::format("Pruned weights{}; {}; one seed",
                  study.trained ? ", trained afterwards" : ", not trained afterwards",
                  study.choice.made_on()),
      study.choice, study.choice.baseline_label, {.label = "Sparsity (%)"}, curves);
}

}  // namespace

SparsityStudy study_sparsities(const Model& baseline, const EncodedSplits& data,
                               const SparsityStudyOptions& options, Context& context) {
  check(options.sparsities);
  usage_check(!options.methods.empty(), "`methods`: expected one at least");
  usage_check(options.how.trains || std::ranges::find(options.methods, PruneMethod::movement) ==
                                        options.methods.end(),
              "`methods` movement scores weights by how training moves them: give `epochs` or "
              "`max_steps`");
  const std::int64_t batch_size = options.how.fine_tune.eval_batch_size;
  SparsityStudy study{.choice = begin_choice(baseline, data, batch_size, context),
                      .curves = {},
                      .trained = options.how.trains};
  // Candidates are measured after training, so evaluations during training are useful only if they choose checkpoints.
  EncodedSplits learned_from = data;
  if (!options.how.fine_tune.selects_checkpoint()) learned_from.validation = {};
  std::vector<SequentialSelection> descents(options.methods.size());
  for (std::size_t i = 0; i < descents.size(); ++i)
    study.curves.push_back(study_method(options.methods[i], baseline, learned_from, options,
                                        study.choice, choice_split(data).examples, descents[i],
                                        context));
  std::vector<ChosenModel> chosen;
  for (std::size_t i = 0; i < descents.size(); ++i)
    if (descents[i].kept)
      chosen.push_back(
          {study.curves[i].results[*descents[i].kept].model.label, &*descents[i].model});
  report_chosen(study.choice, chosen, baseline, data, batch_size, context);
  return study;
}

std::vector<ComparedModel> compared_models(const SparsityStudy& study) {
  std::vector<ComparedModel> rows = {baseline_row(study.choice, study.choice.baseline)};
  for (const SparsityCurve& curve : study.curves)
    for (const SparsityResult& result : curve.results) rows.push_back(result.model);
  return rows;
}

std::vector<NamedEvaluation> chosen_evaluations(const SparsityStudy& study) {
  return chosen_evaluations(study.choice, chosen_models(study));
}

Table sparsity_table(const SparsityStudy& study) {
  return comparison_table(compared_models(study));
}

std::string sparsity_verdict(const SparsityStudy& study) {
  std::vector<std::string> held, others;
  for (const SparsityCurve& curve : study.curves) {
    if (curve.kept)
      held.push_back(fmt::format("up to {} sparsity by {}",
                                 share_text(curve.results[*curve.kept].sparsity),
                                 title_of(curve.method)));
    else
      others.push_back(title_of(curve.method));
  }
  std::string text =
      fmt::format("{} is {}shown to stay within {:g} points {}",
                  capitalized(std::string(study.choice.baseline.evaluation.metric.text)),
                  held.empty() ? "not " : "", 100 * kDefaultMargin,
                  held.empty() ? "at any sparsity" : fmt::format("{}", fmt::join(held, ", ")));
  if (!others.empty())
    text += fmt::format("{} by {}", held.empty() ? "" : "; not shown at any sparsity",
                        fmt::join(others, " or "));
  return text;
}

std::vector<std::string> sparsity_findings(const SparsityStudy& study) {
  std::vector<std::string> lines;
  for (const SparsityCurve& curve : study.curves)
    if (!curve.kept)
      lines.push_back(fmt::format(
          "By {}, the lowest sparsity ({}) is not shown to be within the limit on {}: {}.",
          title_of(curve.method), share_text(curve.results.front().sparsity),
          study.choice.made_on(), curve.results.front().model.verdict->summary));
  if (study.trained)
    lines.emplace_back(
        "Candidates were trained longer than the baseline, so the changes are those of training "
        "and "
        "pruning together.");
  const std::vector<std::string> reported = reported_findings(study.choice);
  lines.insert(lines.end(), reported.begin(), reported.end());
  return lines;
}

void fill_document(const SparsityStudy& study, const fs::path& stem, Document& document,
                   std::vector<std::string>& notes) {
  const std::vector<const ComparedModel*> chosen = chosen_models(study);
  document.headline = sparsity_verdict(study);
  document.tone = chosen.empty() ? Tone::unclear : Tone::good;
  document.key_figures = chosen_facts(study.choice, chosen);
  document.evidence = fmt::format("{}", fmt::join(sparsity_findings(study), " "));
  Section section{
      "",
      {candidate_page_table(sparsity_table(study), study.choice, study.choice.baseline_label,
                            "for each method from the lowest sparsity up"),
       figure_block(sparsity_figure(study), stem,
                    candidate_figure_title(study.choice) +
                        " against the share of pruned weights, one curve for each method; the "
                        "table has the numbers.",
                    notes)}};
  if (study.choice.warning.empty()) section.blocks.push_back(reported_block(study.choice));
  document.sections.push_back(std::move(section));
}

}  // namespace hone
