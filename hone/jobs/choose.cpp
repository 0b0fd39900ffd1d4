#include "hone/jobs/choose.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

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
  bool keeps_up = true;
  JudgedGates gates =
      {};  ///< those it has to pass, each compared with the best by the gate's metric
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

// Of those not worse than the best; the best if there is none.
std::size_t smallest_of(const std::vector<Candidate>& candidates, std::size_t best) {
  std::optional<std::size_t> smallest;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const Candidate& one = candidates[i];
    if (!one.keeps_up) continue;
    const Candidate& least = candidates[smallest.value_or(i)];
    if (!smallest || one.bytes < least.bytes || (one.bytes == least.bytes && is_better(one, least)))
      smallest = i;
  }
  return smallest.value_or(best);
}

void compare_with_best(std::vector<Candidate>& candidates, std::size_t best, double margin,
                       const Truth& truth) {
  const Logits parent = candidates[best].model.measurement.view();
  std::vector<FigureChange> changes;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (i == best) continue;
    ComparedModel& model = candidates[i].model;
    model.comparison = compare(parent, model.measurement.view(), truth);
    changes.push_back(model.comparison->change);
    const std::optional<Interval>& interval = changes.back().interval;
    candidates[i].keeps_up = interval.has_value() && interval->high >= 0;
  }
  const std::vector<Verdict> verdicts = verdicts_of_choice(changes, margin);
  for (std::size_t i = 0, other = 0; i < candidates.size(); ++i)
    if (i != best) candidates[i].model.verdict = verdicts[other++];
}

// Nothing if no candidate has a value.
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

// The best by the task's metric may be the worst for a class, so each gate compares with the best by its own metric, which passes.
void judge_candidates(std::vector<Candidate>& candidates, std::size_t best,
                      const std::vector<Gate>& gates, const Truth& truth) {
  std::vector<std::vector<Gate>> to_pass(candidates.size());
  std::vector<std::vector<FigureChange>> changes(candidates.size());
  for (const Gate& gate : gates) {
    const std::optional<std::size_t> first = best_by(gate, candidates);
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      if (i == first) continue;
      to_pass[i].push_back(gate);
      changes[i].push_back(gated_change(gate,
                                        candidates[first.value_or(best)].model.measurement.view(),
                                        candidates[i].model.measurement.view(), truth));
    }
  }
  const std::vector<JudgedGates> judged = judge_choice(to_pass, changes);
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    candidates[i].gates = judged[i];
    candidates[i].keeps_up = judged[i].verdict.kept();
  }
}

// Each class on which the chosen model is significantly worse than another, with the one it loses most to.
std::vector<std::string> lost_beside_others(const std::vector<Candidate>& candidates,
                                            std::size_t chosen, const Truth& truth,
                                            const std::vector<std::string>& labels) {
  std::map<std::int64_t, std::pair<LostClass, std::string>> worst;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (i == chosen) continue;
    for (const LostClass& one : lost_classes(candidates[i].model.measurement.view(),
                                             candidates[chosen].model.measurement.view(), truth,
                                             std::ssize(candidates) - 1)) {
      const auto [at, is_new] = worst.try_emplace(one.index, one, candidates[i].model.label);
      if (!is_new && one.change < at->second.first.change)
        at->second = {one, candidates[i].model.label};
    }
  }
  std::vector<std::string> sentences;
  for (const auto& [index, lost] : worst)
    sentences.push_back(fmt::format("{}: compared with {}, {}", candidates[chosen].model.label,
                                    lost.second,
                                    lost_class_sentences({lost.first}, labels).front()));
  return sentences;
}

// The condition on the smallest.
std::string condition_of(const std::vector<Gate>& gates) {
  if (gates.empty()) return "not shown to be worse than the best";
  std::vector<std::string> texts;
  for (const Gate& gate : gates) texts.push_back(gate.text);
  return fmt::format("shown to pass {}, each against the best by its metric",
                     fmt::join(texts, ", "));
}

std::string rule_of(const ChooseJob& job, const std::vector<Gate>& gates) {
  return job.smallest ? "the smallest that is " + condition_of(gates) : "the best";
}

Table table_of(const std::vector<Candidate>& candidates, std::size_t best, std::size_t chosen) {
  std::vector<Column> columns = {{"model", "Model"}, {"packed_bytes", "Size when packed"}};
  const FigureName figure = candidates[best].model.measurement.evaluation.figure;
  for (const Column& column : figure_columns(figure)) columns.push_back(column);
  columns.push_back({"chosen", "Choice"});
  Table table(std::move(columns));
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    std::vector<Cell> cells = {candidates[i].model.label, bytes(candidates[i].bytes)};
    for (Cell& cell : figure_cells(candidates[i].model)) cells.push_back(std::move(cell));
    cells.push_back(i == chosen ? Cell("chosen") : i == best ? Cell("best") : Cell(absent));
    table.add_row(std::move(cells));
  }
  return table;
}

/// What was chosen, of which models.
struct Choosing {
  const ChooseJob& job;
  const std::vector<Candidate>& candidates;
  std::size_t best, chosen;
  const std::vector<Gate>& gates;
  const MeasuredPart& part;
};

std::string headline_of(const Choosing& c) {
  const std::string& label = c.candidates[c.chosen].model.label;
  const std::size_t count = c.candidates.size();
  if (!c.candidates[c.chosen].keeps_up)
    return fmt::format("None of {} models is {}; {} is the best", count, condition_of(c.gates),
                       label);
  return c.job.smallest ? fmt::format("{} is the smallest of {} models that is {}", label, count,
                                      condition_of(c.gates))
                        : fmt::format("{} is the best of {} models", label, count);
}

// "On test, n = 4,000: accuracy 94.6% (95% CI 93.9 to 95.3); …"
std::string evidence_of(const Choosing& c) {
  const Candidate& chosen = c.candidates[c.chosen];
  const TaskEvaluation& e = chosen.model.measurement.evaluation;
  std::string text =
      fmt::format("On {}: {} {}", name_and_size(c.part), e.figure.text, figure_sentence(e));
  if (!chosen.keeps_up) return text + "; " + chosen.gates.verdict.summary;
  if (c.chosen != c.best)
    text += fmt::format("; compared with {}, the best, {}", c.candidates[c.best].model.label,
                        change_sentence(*chosen.model.comparison));
  return text;
}

void describe(const Choosing& c, Document& document) {
  const Candidate &chosen = c.candidates[c.chosen], &best = c.candidates[c.best];
  const TaskEvaluation& e = chosen.model.measurement.evaluation;
  document.title = fmt::format("One of {} models", c.candidates.size());
  document.headline = headline_of(c);
  document.tone = chosen.keeps_up ? Tone::good : Tone::bad;
  document.key_figures = {
      c.chosen == c.best ? Fact{figure_title(e.figure), share_text(e.value)}
                         : change_figure(best.model.measurement.evaluation, e),
      c.chosen == c.best ? Fact{"Size when packed", human_bytes(static_cast<double>(chosen.bytes))}
                         : size_figure("Size when packed", static_cast<double>(best.bytes),
                                       static_cast<double>(chosen.bytes))};
  document.evidence = evidence_of(c) + ".";
  document.sections = {{"",
                        {PageTable{table_of(c.candidates, c.best, c.chosen),
                                   "Each model against the best, on the same examples."}}}};
  if (c.job.split != "test")
    document.next = {
        {"Evaluate it on other examples",
         fmt::format("hone eval {} --data {} --split test", shell_word(c.job.models[c.chosen]),
                     shell_word(c.job.data.options.source))}};
}

// Facts of the first model, with the labels of the first that names them.
ModelFacts common_facts_of(const std::vector<std::string>& models,
                           std::vector<std::string>& notes) {
  ModelFacts facts = facts_of_model(models.front());
  for (const std::string& name : models)
    facts = with_context(name, [&] { return common_facts(facts, facts_of_model(name), notes); });
  return facts;
}

}  // namespace

JobResult choose_model(const ChooseJob& job, Context& context) {
  usage_check(job.models.size() > 1, "expected two models or more to choose from, got {}",
              job.models.size());
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
  const auto& [examples, part] =
      load_measured(job.data, job.split, job.seed, facts, record, context, identity);
  std::vector<Candidate> candidates;
  for (const std::string& name : job.models) {
    const TextModel source = open_model(name, context, job.seed);
    notes.push_back(untrained_warning(source, name));
    candidates.push_back({measured(source, name, examples, job.data.cut, job.batch_size,
                                   facts.scheme(), context, notes),
                          model_size(source.model, source.folder).packed_bytes});
  }
  const std::size_t best = best_of(candidates);
  const std::vector<Gate> gates = gates_for(job.gates, facts.scheme());
  const RightAnswers answers = right_answers(facts.scheme().task, examples);
  const Truth truth = answers.truth();
  compare_with_best(candidates, best,
                    margin_for(gates, candidates[best].model.measurement.evaluation.figure), truth);
  if (!gates.empty()) judge_candidates(candidates, best, gates, truth);
  const std::size_t chosen = job.smallest ? smallest_of(candidates, best) : best;
  notes.push_back(fmt::format(
      "the metrics of {} are of the examples it was chosen on and flatter it; evaluate it once on "
      "others with `hone eval`",
      candidates[chosen].model.label));
  for (const std::string& warning : warnings_of(part, facts.labels)) notes.push_back(warning);
  for (const std::string& sentence : lost_beside_others(candidates, chosen, truth, facts.labels))
    notes.push_back(sentence);
  std::erase(notes, "");
  tell_warnings(context, notes);
  tell_measured(part, unknown, context, notes);
  const Choosing choosing{job, candidates, best, chosen, gates, part};
  const std::string summary = fmt::format("{}; {}", headline_of(choosing), evidence_of(choosing));
  Json rows = Json::array();
  for (const Candidate& candidate : candidates) {
    Json row = to_json(candidate.model, facts.labels);
    row["packed_bytes"] = candidate.bytes;
    row["keeps_up"] = candidate.keeps_up;
    if (candidate.gates.any()) row["gate"] = to_json(candidate.gates);
    rows.push_back(std::move(row));
  }
  Json fields = subject_of(job.models[chosen], identity, part);
  fields.update({{"chosen", job.models[chosen]},
                 {"best", job.models[best]},
                 {"rule", rule_of(job, gates)},
                 {"seeds", 1},
                 {"summary", summary},
                 {"models", rows}});
  JobResult result;
  result.fields = std::move(fields);
  describe(choosing, result.document);
  result.document.notes = std::move(notes);
  result.basis = {"as in the table", 1, data_text(job.data.options.source, identity),
                  describe(part), "the choice is made on this split"};
  result.gate = {.passed = candidates[chosen].keeps_up, .text = summary + ".", .summary = summary};
  if (output) {
    result.document.output = job.output.folder;
    write_report(result, job.invocation, output->path(), context);
    output->commit();
  }
  return result;
}

}  // namespace hone
