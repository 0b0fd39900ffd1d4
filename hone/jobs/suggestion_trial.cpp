#include "hone/jobs/suggestion_trial.h"

#include <fmt/ranges.h>

#include "hone/base/text.h"
#include "hone/study/change_headline.h"

namespace hone {
std::string summary_of(const SuggestionTrial& trial) {
  const std::string found = finding(trial.suggested, trial.choice.made_on());
  if (!trial.is_as_given) return found;
  return "Nothing better was found: no parameters of these formats lose less at no more bits. " +
         found;
}

SuggestionTrial try_suggestions(const Model& model, const EncodedSplits& data,
                                const CompressOptions& options,
                                const std::vector<Suggestion>& suggestions, Context& context) {
  const std::int64_t batch_size = options.calibration.batch_size;
  const EncodedSet& examples = choice_split(data).examples;
  SuggestionTrial trial{
      .choice = begin_choice(model, data, batch_size, context), .given = {}, .suggested = {}};
  CompressOptions better = options;
  better.plan = with_suggestions(options.plan, suggestions);
  trial.is_as_given = better.plan == options.plan;
  const Model given = compress(model, data, options, context),
              suggested = compress(model, data, better, context);
  const Measurement& baseline = trial.choice.baseline;
  trial.given = compared(given, "given", baseline, examples, batch_size, context);
  trial.suggested = compared(suggested, "suggested", baseline, examples, batch_size, context);
  const MetricChange both[] = {trial.given.comparison->change, trial.suggested.comparison->change};
  const std::vector<Verdict> verdicts = verdicts_of_choice(both);
  trial.given.verdict = verdicts[0];
  trial.suggested.verdict = verdicts[1];
  report_chosen(trial.choice, {{"suggested", &suggested}}, model, data, batch_size, context);
  return trial;
}

std::vector<NamedEvaluation> chosen_evaluations(const SuggestionTrial& trial) {
  return chosen_evaluations(trial.choice, {&trial.suggested});
}

void fill_document(const SuggestionTrial& trial, Document& document) {
  const double before = trial.given.measurement.evaluation.value,
               baseline = trial.choice.baseline.evaluation.value;
  const std::string change = change_headline(baseline, trial.suggested.measurement.evaluation.value,
                                             *trial.suggested.verdict);
  document.headline = trial.is_as_given ? fmt::format("Nothing better was found: {}", change)
                                        : fmt::format("{}; {} with the given format",
                                                      capitalized(change), share_text(before));
  document.tone = tone_of(*trial.suggested.verdict);
  document.key_figures = chosen_facts(trial.choice, {&trial.suggested});
  std::vector<std::string> findings = reported_findings(trial.choice);
  findings.insert(findings.begin(), finding(trial.suggested, trial.choice.made_on()));
  document.evidence = fmt::format("{}", fmt::join(findings, " "));
  Section section{
      "", {PageTable{comparison_table(trial.models()), candidates_caption(trial.choice) + "."}}};
  if (trial.choice.warning.empty()) section.blocks.push_back(reported_block(trial.choice));
  document.sections.push_back(std::move(section));
}

}  // namespace hone
