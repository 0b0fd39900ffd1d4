#include "hone/jobs/choose.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "hone/base/text.h"
#include "hone/base/usage_check.h"
#include "hone/jobs/model_comparison.h"
#include "hone/models/model_size.h"
#include "hone/study/change_headline.h"
#include "hone/study/result.h"

namespace hone {
namespace {

/// A model to choose from.
struct Candidate {
  ComparedModel model;  ///< compared with the best, unless it is the best
  std::int64_t bytes = 0;
  bool eligible = true;
  /// The gates it has to pass, each compared with the best model by the gate's metric, and the labels of those models.
  JudgedGates gates = {};
  std::vector<std::string> compared_with = {};
};

bool is_better(const Candidate& a, const Candidate& b) {
  const double first = a.model.measurement.evaluation.value,
               second = b.model.measurement.evaluation.value;
  if (std::isnan(first) || std::isnan(second)) return !std::isnan(first) && std::isnan(second);
  return first != second ? first > second : a.bytes < b.bytes;
}

std::size_t best_of(const std::vector<Candidate>& candidates) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < candidates.size(); ++i)
    if (is_better(candidates[i], candidates[best])) best = i;
  return best;
}

// The smallest of those not worse than the best, or the best.
std::size_t smallest_of(const std::vector<Candidate>& candidates, std::size_t best) {
  std::optional<std::size_t> smallest;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const Candidate& one = candidates[i];
    if (!one.eligible) continue;
    const Candidate& least = candidates[smallest.value_or(i)];
    if (!smallest || one.bytes < least.bytes || (one.bytes == least.bytes && is_better(one, least)))
      smallest = i;
  }
  return smallest.value_or(best);
}

void compare_with_best(std::vector<Candidate>& candidates, std::size_t best, double margin,
                       const Truth& truth) {
  const Logits baseline = candidates[best].model.measurement.view();
  std::vector<MetricChange> changes;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (i == best) continue;
    ComparedModel& model = candidates[i].model;
    model.comparison = compare(baseline, model.measurement.view(), truth);
    changes.push_back(model.comparison->change);
    const std::optional<Interval>& interval = changes.back().interval;
    candidates[i].eligible = interval.has_value() && interval->high >= 0;
  }
  const std::vector<Verdict> verdicts = verdicts_of_choice(changes, margin);
  for (std::size_t i = 0, other = 0; i < candidates.size(); ++i)
    if (i != best) candidates[i].model.verdict = verdicts[other++];
}

// Empty if no candidate has a value.
std::optional<std::size_t> best_by(const Gate& gate, const std::vector<Candidate>& candidates) {
  std::optional<std::size_t> best;
  const auto value = [&](std::size_t i) {
    return gated_value(gate, candidates[i].model.measurement.evaluation);
  };
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (std::isnan(value(i))) continue;
    if (!best || value(i) > value(*best) ||
        (value(i) == value(*best) && is_better(candidates[i], candidates[*best])))
      best = i;
  }
  return best;
}

// The best by the task's metric can be the worst for a class, so each gate compares with the best by its own metric,
// which passes.
void judge_candidates(std::vector<Candidate>& candidates, std::size_t best,
                      const std::vector<Gate>& gates, const Truth& truth) {
  std::vector<std::vector<Gate>> to_pass(candidates.size());
  std::vector<std::vector<MetricChange>> changes(candidates.size());
  for (const Gate& gate : gates) {
    const std::optional<std::size_t> first = best_by(gate, candidates);
    const ComparedModel& reference = candidates[first.value_or(best)].model;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      if (i == first) continue;
      to_pass[i].push_back(gate);
      changes[i].push_back(gated_change(gate, reference.measurement.view(),
                                        candidates[i].model.measurement.view(), truth));
      candidates[i].compared_with.push_back(reference.label);
    }
  }
  const std::vector<JudgedGates> judged = judge_choice(to_pass, changes);
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    candidates[i].gates = judged[i];
    candidates[i].eligible = judged[i].verdict.within_limit();
  }
}

// The classes on which the chosen model is significantly worse than the best.
std::vector<DegradedClass> degraded_against_best(const std::vector<Candidate>& candidates,
                                                 std::size_t chosen, std::size_t best,
                                                 const Truth& truth) {
  if (chosen == best) return {};
  return degraded_classes(candidates[best].model.measurement.view(),
                          candidates[chosen].model.measurement.view(), truth);
}

// The condition that the smallest has to meet.
std::string condition_of(const std::vector<Gate>& gates) {
  if (gates.empty()) return "not shown to be worse than the best";
  std::vector<std::string> texts;
  for (const Gate& gate : gates) texts.push_back(gate.text);
  return fmt::format("shown to pass {}, each compared with the best by its metric",
                     fmt::join(texts, ", "));
}

std::string rule_of(const ChooseJob& job, const std::vector<Gate>& gates) {
  return job.smallest ? "the smallest that is " + condition_of(gates) : "the best";
}

/// The choice and the models it was made from.
struct Choosing {
  const ChooseJob& job;
  const std::vector<Candidate>& candidates;
  std::size_t best, chosen;
  const std::vector<Gate>& gates;
  const MeasuredSplit& split;
  const std::vector<std::string>& labels;
  std::vector<DegradedClass> lost = {};  ///< classes on which the chosen one is worse than the best
};

// Shows the result that decides whether a candidate may be chosen for its size.
Cell result_cell(const Choosing& c, std::size_t index) {
  const Candidate& one = c.candidates[index];
  if (one.gates.any()) return gates_cell(one.gates);
  if (!c.gates.empty() || index == c.best) return "reference";
  return one.eligible ? Cell("not shown to be worse") : toned("worse", Tone::bad);
}

Table table_of(const Choosing& c) {
  const MetricName figure = c.candidates[c.best].model.measurement.evaluation.metric;
  const std::vector<Column> of_figure = metric_columns(figure);
  // The verdict there uses a default limit that nobody asked for.
  const auto is_shown = [](const Column& column) { return column.key != "verdict"; };
  std::vector<Column> columns = {{"model", "Model"}, {"packed_bytes", "Size when packed"}};
  std::ranges::copy_if(of_figure, std::back_inserter(columns), is_shown);
  if (c.job.smallest)
    columns.push_back(c.gates.empty() ? Column{"eligible", "Compared with the best"}
                                      : Column{"gates", "Gates"});
  columns.push_back({"chosen", "Choice"});
  Table table(std::move(columns));
  for (std::size_t i = 0; i < c.candidates.size(); ++i) {
    const Candidate& one = c.candidates[i];
    std::vector<Cell> cells = {one.model.label, bytes(one.bytes)};
    const std::vector<Cell> own = metric_cells(one.model);
    for (std::size_t k = 0; k < own.size(); ++k)
      if (is_shown(of_figure[k])) cells.push_back(own[k]);
    if (c.job.smallest) cells.push_back(result_cell(c, i));
    cells.push_back(i == c.chosen ? Cell("chosen") : i == c.best ? Cell("best") : Cell(absent));
    table.add_row(std::move(cells));
  }
  return table;
}

// Lists the gates of these candidates one by one; empty if there are none.
std::optional<Table> gates_of(const std::vector<const Candidate*>& candidates) {
  JudgedGates all;
  std::vector<std::pair<std::string, std::string>> models;  // of each gate, with its reference
  for (const Candidate* one : candidates)
    for (std::size_t i = 0; i < one->gates.gates.size(); ++i) {
      all.gates.push_back(one->gates.gates[i]);
      all.changes.push_back(one->gates.changes[i]);
      all.verdict.gates.push_back(one->gates.verdict.gates[i]);
      models.emplace_back(one->model.label, one->compared_with[i]);
    }
  if (!all.any()) return std::nullopt;
  const Table own = gate_table(all);
  std::vector<Column> columns = {{"model", "Model"}, {"beside", "Compared with"}};
  columns.insert(columns.end(), own.columns().begin(), own.columns().end());
  Table table(std::move(columns));
  for (std::size_t i = 0; i < models.size(); ++i) {
    std::vector<Cell> row = {models[i].first, models[i].second};
    row.insert(row.end(), own.rows()[i].begin(), own.rows()[i].end());
    table.add_row(std::move(row));
  }
  return table;
}

// Adds the gates of the chosen model and those of the others, which are folded if there are many.
void add_gates(const Choosing& c, std::vector<Section>& sections) {
  constexpr std::size_t kMaxRows = 8;
  const Candidate& chosen = c.candidates[c.chosen];
  std::vector<const Candidate*> others;
  for (const Candidate& one : c.candidates)
    if (&one != &chosen) others.push_back(&one);
  if (std::optional<Table> own = gates_of({&chosen}))
    sections[0].blocks.emplace_back(PageTable{
        std::move(*own), fmt::format("Gates of {}, each compared with the best by its metric.",
                                     chosen.model.label)});
  if (std::optional<Table> rest = gates_of(others)) {
    const bool many = rest->rows().size() > kMaxRows;
    sections.push_back({"Gates of the other models", {PageTable{std::move(*rest)}}, many});
  }
}

std::string headline_of(const Choosing& c) {
  const Candidate& chosen = c.candidates[c.chosen];
  const std::string& label = chosen.model.label;
  const std::size_t count = c.candidates.size();
  if (count == 1) return fmt::format("{} is the only model", label);
  if (!c.job.smallest) return fmt::format("{} is the best of {} models", label, count);
  if (!chosen.eligible)
    return fmt::format("None of {} models is {}; {} is the best", count, condition_of(c.gates),
                       label);
  const bool is_tested = c.gates.empty() ? c.chosen != c.best : chosen.gates.any();
  if (is_tested)
    return fmt::format("{} is the smallest of {} models that is {}", label, count,
                       condition_of(c.gates));
  // The chosen model is the reference of the others.
  std::vector<std::string> metrics;
  for (const Gate& gate : c.gates) metrics.push_back(gate.metric.text);
  const std::string by = metrics.empty() ? "" : fmt::format(" by {}", fmt::join(metrics, ", "));
  const bool is_least = std::ranges::all_of(
      c.candidates, [&](const Candidate& one) { return one.bytes >= chosen.bytes; });
  if (is_least)
    return fmt::format("{} is the best{} and the smallest of {} models", label, by, count);
  return fmt::format("{} is the best of {} models{}; no smaller one is {}", label, count, by,
                     condition_of(c.gates));
}

// "On test, n = 4,000: accuracy 94.6% (95% CI 93.9 to 95.3); …"
std::string evidence_of(const Choosing& c) {
  const Candidate& chosen = c.candidates[c.chosen];
  const TaskEvaluation& e = chosen.model.measurement.evaluation;
  std::string text =
      fmt::format("On {}: {} {}", name_and_size(c.split), e.metric.text, metric_sentence(e));
  if (!chosen.eligible) return text + "; " + chosen.gates.verdict.summary;
  if (c.chosen != c.best)
    text += fmt::format("; compared with {}, the best, {}", c.candidates[c.best].model.label,
                        change_sentence(*chosen.model.comparison));
  for (const Gate& gate : c.gates)
    if (std::ranges::find(chosen.gates.gates, gate.metric, &Gate::metric) ==
        chosen.gates.gates.end())
      text += fmt::format("; {} was not tested, as no model has a better {}", gate.text,
                          gate.metric.text);
  return text;
}

void fill_document(const Choosing& c, Document& document) {
  const Candidate &chosen = c.candidates[c.chosen], &best = c.candidates[c.best];
  const TaskEvaluation& e = chosen.model.measurement.evaluation;
  document.title =
      c.candidates.size() == 1 ? "One model" : fmt::format("One of {} models", c.candidates.size());
  document.headline = headline_of(c);
  document.tone = chosen.eligible ? Tone::good : Tone::bad;
  document.key_figures = {
      c.chosen == c.best ? Fact{metric_title(e.metric), share_text(e.value)}
                         : change_fact(best.model.measurement.evaluation, e),
      c.chosen == c.best ? Fact{"Size when packed", human_bytes(static_cast<double>(chosen.bytes))}
                         : size_fact("Size when packed", static_cast<double>(best.bytes),
                                     static_cast<double>(chosen.bytes))};
  document.evidence = evidence_of(c) + ".";
  if (!c.lost.empty())
    document.evidence += fmt::format(" Compared with {}, {}.", best.model.label,
                                     degraded_class_text(c.lost, c.labels));
  document.sections = {
      {"", {PageTable{table_of(c), "Each model compared with the best, on the same examples."}}}};
  add_gates(c, document.sections);
  if (!c.lost.empty())
    document.sections.push_back(
        {"Classes", {PageTable{degraded_class_table(c.lost, c.labels)}}, /*folded=*/true});
  if (c.job.split != "test")
    document.next = {
        {"Evaluate it on other examples",
         fmt::format("hone eval {} --data {} --split test", shell_word(c.job.models[c.chosen]),
                     shell_word(c.job.data.options.source))}};
}

// The facts of the first model, with the labels of the first that names them.
ModelFacts common_facts_of(const std::vector<std::string>& models,
                           std::vector<std::string>& notes) {
  ModelFacts facts = facts_of_model(models.front());
  for (const std::string& name : models)
    facts = with_context(name, [&] { return common_facts(facts, facts_of_model(name), notes); });
  return facts;
}

}  // namespace

const Fields& fields_of(const ChoiceCandidateResult*) {
  using C = ChoiceCandidateResult;
  static const Fields fields = describe<C>(
      "choice_candidate", "A model to choose from.", inlined<&C::measured>(),
      field<&C::packed_bytes>("packed_bytes", Unit::bytes,
                              "Size of its weights in the file of `hone pack`, which leaves out "
                              "zeros."),
      field<&C::eligible>("eligible",
                          "Whether --smallest may choose it: not shown to be worse than the best; "
                          "with gates, shown to pass them."),
      field<&C::gate>("gate",
                      "Its gates, each compared with the best by its metric; null: none to pass."));
  return fields;
}

const Fields& fields_of(const ChooseFields*) {
  using C = ChooseFields;
  static const Fields fields = describe<C>(
      "choose",
      "One of several models. `model` is the chosen one, and its metrics are of the examples it "
      "was chosen on.",
      inlined<&C::subject>(), field<&C::chosen>("chosen", "The chosen model as it was named."),
      field<&C::best>("best", "The model with the highest metric."),
      field<&C::rule>("rule", "Rule of the choice."),
      field<&C::seeds>("seeds", Unit::seeds, "Random seeds of the metrics."),
      field<&C::summary>("summary", "The choice in a sentence."),
      field<&C::degraded_classes>(
          "lost_classes",
          "Classes or labels whose recall is significantly below that of the "
          "best model."),
      field<&C::models>("models", "All models, in the order in which they were named."));
  return fields;
}

JobResult choose_model(const ChooseJob& job, Context& context) {
  usage_check(!job.models.empty(), "expected models to choose from");
  usage_check(
      job.smallest || !job.gates.any(),
      "`max_drop` and `gate` limit what `smallest` may lose; give it too, or leave them out");
  std::optional<OutputFolder> output;
  if (!job.output.folder.empty()) output.emplace(job.output.folder, job.output.options());
  std::vector<std::string> notes, unknown;
  std::optional<TrainedOn> record = known_record(job.models.front());
  for (const std::string& name : job.models) {
    const std::optional<TrainedOn> own = known_record(name);
    record = united(record, own);
    unknown.push_back(unknown_texts(name, own));
  }
  const ModelFacts facts = common_facts_of(job.models, notes);
  DataIdentity identity;
  const auto& [examples, split] =
      load_measured(job.data, job.split, job.seed, facts, record, context, identity);
  std::vector<Candidate> candidates;
  for (const std::string& name : job.models) {
    const TextModel source = open_model(name, context, job.seed);
    notes.push_back(untrained_warning(source, name));
    candidates.push_back({measured(source, name, examples, job.data.cut, job.batch_size,
                                   facts.scheme(), context, notes),
                          bytes_when_packed(source.model, context.pool).stored()});
  }
  const std::size_t best = best_of(candidates);
  const std::vector<Gate> gates = gates_for(job.gates, facts.scheme());
  const ExampleLabels labels = example_labels(facts.scheme().task, examples);
  const Truth truth = labels.truth();
  compare_with_best(candidates, best,
                    margin_for(gates, candidates[best].model.measurement.evaluation.metric), truth);
  if (!gates.empty()) judge_candidates(candidates, best, gates, truth);
  const std::size_t chosen = job.smallest ? smallest_of(candidates, best) : best;
  if (candidates.size() > 1)
    notes.push_back(
        fmt::format("the metrics of {} are optimistic, because it was chosen on these examples; "
                    "evaluate it once on others with `hone eval`",
                    candidates[chosen].model.label));
  for (const std::string& warning : warnings_of(split, facts.labels)) notes.push_back(warning);
  std::erase(notes, "");
  print_warnings(context, notes);
  report_measured_split(split, unknown, context, notes);
  const Choosing choosing{.job = job,
                          .candidates = candidates,
                          .best = best,
                          .chosen = chosen,
                          .gates = gates,
                          .split = split,
                          .labels = facts.labels,
                          .lost = degraded_against_best(candidates, chosen, best, truth)};
  const std::string summary = fmt::format("{}; {}", headline_of(choosing), evidence_of(choosing));
  ChooseFields fields{.subject = subject_result(job.models[chosen], identity, split),
                      .chosen = job.models[chosen],
                      .best = job.models[best],
                      .rule = rule_of(job, gates),
                      .summary = summary,
                      .degraded_classes = degraded_class_results(choosing.lost, facts.labels)};
  for (const Candidate& candidate : candidates)
    fields.models.push_back({.measured = measured_model(candidate.model, facts.labels),
                             .packed_bytes = candidate.bytes,
                             .eligible = candidate.eligible,
                             .gate = gate_result_if_any(candidate.gates)});
  JobResult result;
  result.fields = to_json(fields);
  fill_document(choosing, result.document);
  result.document.notes = std::move(notes);
  result.basis = {"as in the table", 1, data_text(job.data.options.source, identity),
                  describe(split), "the choice is made on this split"};
  result.gate = GateOutcome{.passed = candidates[chosen].eligible, .summary = summary};
  if (output) {
    result.document.output = job.output.folder;
    write_report(result, job.invocation, output->path(), context);
    output->commit();
  }
  return result;
}

}  // namespace hone
