#include "hone/jobs/choose.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "hone/base/text.h"
#include "hone/base/usage_check.h"
#include "hone/jobs/model_comparison.h"
#include "hone/models/model_size.h"
#include "hone/study/evaluation_details.h"
#include "hone/study/result.h"

namespace hone {
namespace {

/// A model among others.
struct Candidate {
  ComparedModel model;  ///< with its comparison with the best, but for the best itself
  std::int64_t bytes = 0;
  bool keeps_up = true;
  JudgedGates gates = {};  ///< those that it has to pass, each beside the best by the gate's metric
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

// That keeps up; the best where none does.
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

// Nothing where no candidate has a value.
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

// What is best by the task's metric may be the worst for a class: each gate is judged beside the best by its own metric, which passes.
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

// Of each class on which the chosen one is significantly worse than another: beside the one that it loses most to.
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
    sentences.push_back(fmt::format("{}: beside {}, {}", candidates[chosen].model.label,
                                    lost.second,
                                    lost_class_sentences({lost.first}, labels).front()));
  return sentences;
}

// Of the smallest.
std::string condition_of(const std::vector<Gate>& gates) {
  if (gates.empty()) return "not shown to be worse than the best";
  std::vector<std::string> texts;
  for (const Gate& gate : gates) texts.push_back(gate.text);
  return fmt::format("shown to pass {}, each beside the best by its metric",
                     fmt::join(texts, ", "));
}

std::string rule_of(const ChooseJob& job, const std::vector<Gate>& gates) {
  return job.smallest ? "the smallest that is " + condition_of(gates) : "the best";
}

Table table_of(const std::vector<Candidate>& candidates, std::size_t best, std::size_t chosen) {
  std::vector<Column> columns = {{"model", "Model"}, {"packed_bytes", "Packed"}};
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

std::string headline_of(const std::vector<Candidate>& candidates, std::size_t best,
                        std::size_t chosen, const ChooseJob& job, const std::vector<Gate>& gates,
                        const MeasuredPart& part) {
  const ComparedModel& model = candidates[chosen].model;
  if (!candidates[chosen].keeps_up)
    return fmt::format("none of {} on {} is {}; {} is the best, {}: {}", candidates.size(),
                       name_and_size(part), condition_of(gates), model.label,
                       figure_sentence(model.measurement.evaluation),
                       candidates[chosen].gates.verdict.summary);
  std::string text = fmt::format("{} is chosen of {} on {}: {}, {}", model.label, candidates.size(),
                                 name_and_size(part), rule_of(job, gates),
                                 figure_sentence(model.measurement.evaluation));
  if (chosen != best)
    text += fmt::format("; against {}, the best, {}", candidates[best].model.label,
                        change_sentence(*model.comparison));
  return text;
}

// Of the first model, with the labels of the first that names them.
ModelFacts common_facts_of(const std::vector<std::string>& models,
                           std::vector<std::string>& notes) {
  ModelFacts facts = facts_of_model(models.front());
  for (const std::string& name : models)
    facts = with_context(name, [&] { return common_facts(facts, facts_of_model(name), notes); });
  return facts;
}

}  // namespace

ChooseResult choose_model(const ChooseJob& job, Context& context) {
  usage_check(job.models.size() > 1, "expected two models or more to choose from, got {}",
              job.models.size());
  usage_check(job.smallest || !job.gates.any(),
              "`max_drop` and `gate` say what `smallest` may lose; give it too, or leave them out");
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
      "the figures of {} are of the texts it was chosen on and flatter it; measure it once on "
      "others by `hone eval`",
      candidates[chosen].model.label));
  for (const std::string& warning : warnings_of(part, facts.labels)) notes.push_back(warning);
  for (const std::string& sentence : lost_beside_others(candidates, chosen, truth, facts.labels))
    notes.push_back(sentence);
  std::erase(notes, "");
  tell_warnings(context, notes);
  tell_measured(part, unknown, context, notes);
  const Table table = table_of(candidates, best, chosen);
  const std::string headline = headline_of(candidates, best, chosen, job, gates, part);
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
                 {"summary", headline},
                 {"models", rows}});
  if (output) {
    RunReport report{
        .title = fmt::format("One of {} models", job.models.size()),
        .headline = headline + ".",
        .invocation = job.invocation,
        .basis = {"as in the table", 1, data_text(job.data.options.source, identity),
                  describe(part), "the choice is made on this part"},
        .sections = {{"Models", {PageTable{table, "Each against the best, on the same texts."}}}},
        .results = fields,
        .notes = notes};
    write_run_report(report, output->path(), context);
    output->commit();
  }
  return {.fields = fields,
          .text =
              [headline, table](const TextStyle& style) {
                return fmt::format("{}\n\n{}", headline, to_text(table, style));
              },
          .gate = {candidates[chosen].keeps_up, headline + ".", headline}};
}

}  // namespace hone
