#include "hone/jobs/choice.h"

#include "hone/base/error.h"
#include "hone/base/text.h"
#include "hone/jobs/compress.h"
#include "hone/study/change_headline.h"
#include "hone/train/text_examples.h"

namespace hone {

ChoiceSplit choice_split(const EncodedSplits& data) {
  user_check(
      data.validation.size() > 0,
      "there is no validation split to choose on: the data has none, and none of the {} training "
      "examples were set aside. Give more examples and a `validation_split` above 0, give data "
      "with a validation split, or choose on the test split with `protocol` original",
      grouped(data.train.size()));
  return {data.protocol == Protocol::original ? "test" : "validation", data.validation};
}

ComparedModel compared(const Model& model, const std::string& label, const Measurement& baseline,
                       const EncodedSet& examples, std::int64_t batch_size, Context& context) {
  Measurement after = measure(model, examples, batch_size, context, label);
  TaskComparison comparison = compare(baseline.view(), after.view(), truth_of(examples));
  return {label, average_weight_bits(model), std::move(after), std::move(comparison),
          arithmetic_of_run(forward_graph(model), context.session())};
}

ComparedModel baseline_row(const Choice& choice, const Measurement& baseline) {
  return {choice.baseline_label, choice.baseline_bits, baseline, std::nullopt,
          choice.baseline_arithmetic};
}

std::string Choice::made_on() const { return split_text(split, baseline.evaluation, cautions); }

std::string Choice::reported_on() const {
  return split_text(reported_split,
                    reported.empty() ? TaskEvaluation{} : reported.front().measurement.evaluation,
                    first_if_any(reported_cautions));
}

std::string same_split_warning(const EncodedSplits& data) {
  const std::string split = choice_split(data).name;
  if (split != data.measured.facts.split) return "";
  return fmt::format(
      "The choice is made on the split that is reported ({}{}), so the numbers of the chosen model "
      "are optimistic.",
      data.protocol == Protocol::original ? "protocol original: " : "", split);
}

Choice begin_choice(const Model& baseline, const EncodedSplits& data, std::int64_t batch_size,
                    Context& context) {
  const ChoiceSplit split = choice_split(data);
  const std::string label =
      baseline.quantization ? summary(baseline.quantization->plan) : std::string(kFloat);
  return {.split = split.name,
          .cautions = first_caution(data.measured_choice()),
          .baseline = measure(baseline, split.examples, batch_size, context, label),
          .baseline_label = label,
          .baseline_bits = average_weight_bits(baseline),
          .baseline_arithmetic = arithmetic_of_run(forward_graph(baseline), context.session()),
          .reported_split = data.measured.facts.split,
          .reported_cautions = cautions(data.measured),
          .warning = {},
          .reported = {}};
}

void report_chosen(Choice& choice, const std::vector<ChosenModel>& chosen, const Model& baseline,
                   const EncodedSplits& data, std::int64_t batch_size, Context& context) {
  if (choice.split == choice.reported_split) {
    if (chosen.empty()) return;
    choice.warning = same_split_warning(data);
    return;
  }
  const Measurement before =
      measure(baseline, data.test, batch_size, context, choice.baseline_label);
  choice.reported = {baseline_row(choice, before)};
  for (const ChosenModel& one : chosen) {
    ComparedModel row = compared(*one.model, one.label, before, data.test, batch_size, context);
    row.verdict = verdict(row.comparison->change);
    choice.reported.push_back(std::move(row));
  }
}

std::string finding(const ComparedModel& model, const std::string& measured_on) {
  return fmt::format("{}, {}: {}.", model.label, measured_on, model.verdict->summary);
}

std::vector<std::string> reported_findings(const Choice& choice) {
  std::vector<std::string> lines;
  for (const ComparedModel& model : choice.reported)
    if (model.verdict) lines.push_back(finding(model, choice.reported_on()));
  if (!choice.warning.empty()) lines.push_back(choice.warning);
  return lines;
}

std::vector<NamedEvaluation> chosen_evaluations(const Choice& choice,
                                                const std::vector<const ComparedModel*>& chosen) {
  if (chosen.empty()) return {};
  std::vector<NamedEvaluation> named;
  const auto add = [&](const std::string& label, const Measurement& measured,
                       const std::string& split, const std::vector<std::string>& cautions) {
    named.push_back({fmt::format("{}, {}", label, split), measured.evaluation, cautions});
  };
  for (const ComparedModel& model : choice.reported)
    add(model.label, model.measurement, choice.reported_split,
        first_if_any(choice.reported_cautions));
  if (!named.empty()) return named;
  add(choice.baseline_label, choice.baseline, choice.split, choice.cautions);
  for (const ComparedModel* model : chosen)
    add(model->label, model->measurement, choice.split, choice.cautions);
  return named;
}

const Fields& fields_of(const ChoiceResult*) {
  using C = ChoiceResult;
  static const Fields fields = describe<C>(
      "choice", "A choice among models, made on `split`, and the chosen ones measured once.",
      field<&C::reported_split>("reported_split", "Split on which the chosen models are measured."),
      field<&C::reported_cautions>(
          "reported_cautions", "Why the numbers on that split are optimistic, a few words each."),
      field<&C::reported>(
          "reported", "The baseline on that split, then the chosen models; empty: it is `split`."),
      field<&C::summary>("summary", "The choice in a sentence."),
      field<&C::findings>("findings", "Results of the chosen models, a sentence each."),
      field<&C::seeds>("seeds", Unit::seeds, "Random seeds of the measurements."));
  return fields;
}

ChoiceResult choice_result(const Choice& choice, const std::vector<std::string>& labels,
                           std::string summary, std::vector<std::string> findings) {
  return {.reported_split = choice.reported_split,
          .reported_cautions = choice.reported_cautions,
          .reported = measured_models(choice.reported, labels),
          .summary = std::move(summary),
          .findings = std::move(findings)};
}

std::vector<Fact> chosen_facts(const Choice& choice,
                               const std::vector<const ComparedModel*>& chosen) {
  std::vector<Fact> figures;
  const auto add = [&](const ComparedModel& model, const Measurement& before,
                       const std::string& split) {
    figures.push_back({fmt::format("{}, {}", model.label, split),
                       change_fact(before.evaluation, model.measurement.evaluation).value});
  };
  for (const ComparedModel& model : choice.reported)
    if (model.comparison) add(model, choice.reported.front().measurement, choice.reported_split);
  if (choice.reported.empty())
    for (const ComparedModel* model : chosen) add(*model, choice.baseline, choice.split);
  return figures;
}

Table with_split_columns(const Table& candidates, const Choice& choice) {
  std::vector<Column> columns = candidates.columns();
  columns.push_back({"split", "Split"});
  columns.push_back({"n", "n"});
  Table whole(columns);
  for (std::vector<Cell> row : candidates.rows()) {
    row.emplace_back(choice.split);
    row.emplace_back(choice.baseline.evaluation.examples);
    whole.add_row(std::move(row));
  }
  return whole;
}

std::string candidates_caption(const Choice& choice) {
  return fmt::format("All candidates, on {} (the split that decides); {}", choice.made_on(),
                     constant_baseline_text(choice.baseline.evaluation));
}

namespace {

std::string reported_caption(const Choice& choice) {
  return fmt::format("The chosen model, evaluated once on {}; {}", choice.reported_on(),
                     constant_baseline_text(choice.reported.front().measurement.evaluation));
}

std::string nothing_reported(const Choice& choice) {
  return fmt::format("Nothing was chosen, so only the baseline ({}) was evaluated on {}.",
                     choice.baseline_label, choice.reported_on());
}

}  // namespace

Block reported_block(const Choice& choice) {
  if (choice.reported.empty())
    return Paragraph{choice.warning.empty() ? "Nothing was chosen." : choice.warning};
  if (choice.reported.size() == 1) return Paragraph{nothing_reported(choice)};
  return PageTable{comparison_table(choice.reported), reported_caption(choice) + "."};
}

}  // namespace hone
