#include "hone/jobs/before_and_after.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "hone/base/text.h"
#include "hone/metrics/verdict_text.h"
#include "hone/study/change_headline.h"
#include "hone/study/comparison_table.h"
#include "hone/train/text_examples.h"

namespace hone {

Measurement measure_before(const TextModel& baseline, const EncodedSplits& data,
                           std::int64_t batch_size, Context& context,
                           std::vector<std::string>& notes, std::string_view change) {
  Measurement before = measure(baseline.model, data.test, batch_size, context,
                               "baseline, " + data.measured.facts.split);
  std::vector<std::string> doubts;
  for (const std::string& concern : concerns(before.evaluation, baseline.model.facts.labels))
    doubts.push_back(fmt::format("before {}, {}", change, concern));
  print_warnings(context, doubts);
  notes.insert(notes.end(), doubts.begin(), doubts.end());
  return before;
}

std::vector<Gate> gates_of(const GateOptions& options, const Model& model,
                           const std::string& name) {
  user_check(!model.has_untrained_head() || !options.any(),
             "`max_drop`, `gate`: {} has no classification head, so there are no predictions to "
             "evaluate; leave them out, or train a head first with `hone train`",
             name);
  return gates_for(options, model.facts.scheme());
}

BeforeAndAfter measure_after(const Model& model, const Measurement& before,
                             const EncodedSplits& data, std::int64_t batch_size,
                             const std::vector<Gate>& gates, Context& context,
                             const std::string& title, std::int64_t evaluations) {
  BeforeAndAfter both{
      .before = before,
      .after = measure(model, data.test, batch_size, context,
                       title.empty() ? "compressed, " + data.measured.facts.split : title),
      .comparison = {},
      .verdict = {},
      .labels = model.facts.labels};
  const Truth truth = truth_of(data.test);
  both.comparison = compare(before.view(), both.after.view(), truth);
  both.gates = judge(gates, before.view(), both.after.view(), truth, evaluations);
  const Verdict usual = verdict(both.comparison.change);
  both.verdict = shown_verdict(both.gates, usual.metric).value_or(usual);
  both.lost = degraded_classes(before.view(), both.after.view(), truth);
  return both;
}

bool BeforeAndAfter::is_clearly_worse() const {
  if (gates.any()) return gates.verdict.conclusion == Conclusion::exceeds_limit;
  const std::optional<Interval>& interval = comparison.change.interval;
  return interval && comparison.change.differs && interval->high < -kDefaultMargin;
}

std::string usage_advice(const JudgedGates& gates, const std::string& folder) {
  if (!gates.any()) return "No limit was tested. To test one, run `hone compare` with --max_drop.";
  switch (gates.verdict.conclusion) {
    case Conclusion::within_limit:
      if (gates.unseen && !gates.unseen->within_limit())
        return fmt::format(
            "Evaluate {} on more new examples before you use it: without the examples used for "
            "training or choices, the limit is not shown to hold.",
            folder);
      return fmt::format("You can use {}: it is shown to be within the limit.", folder);
    case Conclusion::exceeds_limit:
      return fmt::format("Do not use {} where the limit matters: it is shown to exceed it.",
                         folder);
    case Conclusion::inconclusive:
      break;
  }
  return fmt::format(
      "Evaluate {} on more examples before you use it: the limit is not shown to hold.", folder);
}

NextCommand command_to_test_limit(const std::string& before, const std::string& after,
                                  const std::string& data) {
  return {"Test a limit", fmt::format("hone compare {} {} --data {} --max_drop 1",
                                      shell_word(before), shell_word(after), shell_word(data))};
}

void overrule(BeforeAndAfter& both, const std::vector<std::string>& missed,
              const std::function<std::string(const Verdict& verdict)>& why) {
  GateVerdict& all = both.gates.verdict;
  std::vector<std::string> open;
  for (std::size_t i = 0; i < all.gates.size(); ++i) {
    Verdict& one = all.gates[i];
    if (one.conclusion != Conclusion::exceeds_limit &&
        std::ranges::find(missed, both.gates.gates[i].text) != missed.end()) {
      one = overruled(one, why(one));
      one.examples_needed.reset();
    }
    if (one.conclusion == Conclusion::inconclusive) open.push_back(one.summary);
  }
  both.verdict = shown_verdict(both.gates, both.verdict.metric).value_or(both.verdict);
  if (all.conclusion == Conclusion::exceeds_limit || open.empty()) return;
  all.conclusion = Conclusion::inconclusive;
  all.summary = fmt::format("{}", fmt::join(open, "; "));
}

void describe_change(Document& document, const std::string& label, const BeforeAndAfter& both,
                     const MeasuredSplit& split, std::string_view separator) {
  const TaskEvaluation &before = both.before.evaluation, &after = both.after.evaluation;
  document.tone = both.gates.any() ? tone_of(both.gates) : Tone::plain;
  const std::string outcome = both.gates.any()
                                  ? gate_headline(both.gates)
                                  : unjudged_headline(before.value, after.value, both.verdict);
  document.headline = both.is_clearly_worse()
                          ? fmt::format("{}{}{}", capitalized(outcome), separator, label)
                          : fmt::format("{}{}{}", label, separator, outcome);
  document.key_figures = {change_fact(before, after), flips_fact(both.comparison)};
  const MetricChange& change = both.comparison.change;
  document.evidence =
      fmt::format("{}: {}.", capitalized(name_and_size(split)),
                  change_evidence(both.gates, both.verdict, change.differs, change.notes));
  if (!both.lost.empty())
    document.evidence +=
        fmt::format(" {}.", capitalized(degraded_class_text(both.lost, both.labels)));
  document.evidence += unseen_change_sentence(both.gates, both.comparison);
}

void describe_seeds(Document& document, const std::string& label, const std::vector<Json>& results,
                    const SeedChanges& changes, const Verdict& verdict, const JudgedGates& gates,
                    const std::string& split) {
  const double before = metric_spread(results, "before").mean,
               after = metric_spread(results, "after").mean;
  document.tone = gates.any() ? tone_of(verdict) : Tone::plain;
  document.headline = fmt::format("{}: {}", label,
                                  gates.any() ? change_headline(before, after, verdict)
                                              : unjudged_headline(before, after, verdict));
  const bool differ =
      std::ranges::all_of(changes.changes, [](const MetricChange& c) { return c.differs; });
  document.evidence =
      fmt::format("{}: {}.", capitalized(split),
                  gates.any() ? verdict.summary
                              : unjudged_text(verdict, differ, changes.notes,
                                              {.over = fmt::format(" on average over {} seeds",
                                                                   changes.changes.size())}));
}

const Fields& fields_of(const BeforeAndAfterResult*) {
  using B = BeforeAndAfterResult;
  static const Fields fields =
      describe<B>("before_and_after", "The baseline and the model made from it.",
                  field<&B::before>("before", "Of the baseline."),
                  field<&B::after>("after", "Of the model made from it."),
                  field<&B::comparison>("comparison", "The second compared with the first."),
                  field<&B::degraded_classes>(
                      "lost_classes", "Classes or labels whose recall fell significantly."));
  return fields;
}

BeforeAndAfterResult before_and_after_result(const BeforeAndAfter& both,
                                             const std::vector<std::string>& labels) {
  return {.before = evaluation_result(both.before, labels),
          .after = evaluation_result(both.after, labels),
          .comparison = comparison_result(both.comparison, both.verdict),
          .degraded_classes = degraded_class_results(both.lost, labels)};
}

const Fields& fields_of(const ChangeRunResult*) {
  using C = ChangeRunResult;
  static const Fields fields = describe<C>(
      "change_run", "One of several seeds.", field<&C::seed>("seed", "Its seed."),
      inlined<&C::both>(), field<&C::gate>("gate", "Its gates; null: none were given."));
  return fields;
}

const Fields& fields_of(const ChangeSeedsResult*) {
  using C = ChangeSeedsResult;
  static const Fields fields =
      describe<C>("change_seeds", "A change of a model, repeated with several seeds.",
                  field<&C::seeds>("seeds", Unit::seeds, "Number of seeds."),
                  field<&C::runs>("runs", "One for each seed."), inlined<&C::spreads>(),
                  field<&C::change>("change", "The change of the metric, from before to after."),
                  field<&C::gate>("gate", "The gates over all seeds; null: none were given."));
  return fields;
}

ChangeSeedsResult change_seeds_result(const std::vector<Json>& results, const SeedChanges& changes,
                                      const Verdict& verdict, const JudgedGates& gates) {
  ChangeSeedsResult all{.seeds = std::ssize(results),
                        .spreads = seed_spreads(results, {"before", "after"}),
                        .change = seed_change_result(changes, verdict),
                        .gate = gate_result_if_any(gates)};
  for (const Json& result : results) all.runs.push_back(from_json<ChangeRunResult>(result));
  return all;
}

std::vector<std::string> concerns(const BeforeAndAfter& both,
                                  const std::vector<std::string>& labels, std::string_view change) {
  std::vector<std::string> sentences = concerns(both.after.evaluation, labels);
  for (std::string& sentence : sentences) sentence = fmt::format("after {}, {}", change, sentence);
  return sentences;
}

std::vector<MetricsKey> before_and_after_names(const EncodedSplits& data, std::string_view after) {
  const std::string& measured = data.measured.facts.split;
  const std::vector<std::string> doubts = first_caution(data.measured);
  return {{"before", "baseline, " + measured, doubts},
          {"after", fmt::format("{}, {}", after, measured), doubts}};
}

std::vector<NamedEvaluation> named_evaluations(const BeforeAndAfter& both,
                                               const EncodedSplits& data, std::string_view after) {
  const std::vector<MetricsKey> figures = before_and_after_names(data, after);
  return {{figures[0].name, both.before.evaluation, {}},
          {figures[1].name, both.after.evaluation, {}, both.lost}};
}

std::string headless_remark(const Model& baseline, bool trained) {
  if (!baseline.has_untrained_head()) return "";
  return trained ? "the baseline has no classification head: its numbers are those of a random "
                   "head, which training started from"
                 : "the model has no classification head: all numbers are those of a random head "
                   "and say nothing about its embeddings";
}

std::string training_caveat(std::int64_t least_steps, std::int64_t most_steps,
                            std::string_view done) {
  if (most_steps == 0) return "";
  return fmt::format(
      "The compressed model was trained for {}{} step{} more than the baseline, and no fp32 model "
      "was trained equally long: the change combines training and {}.",
      least_steps == most_steps ? "" : grouped(least_steps) + " to ", grouped(most_steps),
      most_steps == 1 ? "" : "s", done);
}

std::string training_caveat(const std::vector<Json>& results, std::string_view done) {
  std::vector<std::int64_t> steps;
  for (const Json& result : results) {
    const Json& of_seed = value_at(result, "steps");
    steps.push_back(of_seed.is_number() ? of_seed.get<std::int64_t>() : 0);
  }
  const auto [least, most] = std::ranges::minmax(steps);
  return training_caveat(least, most, done);
}

std::string metrics_caption(const Measurement& before, const EncodedSplits& data,
                            const std::vector<std::string>& remarks) {
  std::string text = fmt::format("On {}; {}.", short_name_and_size(data.measured),
                                 constant_baseline_text(before.evaluation));
  for (const std::string& remark : remarks)
    if (!remark.empty()) text += " " + remark;
  return text;
}

}  // namespace hone
