#include "hone/study/gates.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "hone/base/error.h"
#include "hone/base/percentage.h"
#include "hone/base/printable.h"
#include "hone/base/text.h"
#include "hone/metrics/evidence.h"
#include "hone/metrics/metric.h"
#include "hone/metrics/planning.h"
#include "hone/study/comparison_table.h"
#include "hone/study/measure.h"

namespace hone {
namespace {

// What a verdict over seeds reads again is all here.
Json to_json(const FigureChange& c) {
  Json json = {{"examples", c.examples},
               {"evidence", c.evidence},
               {"before", finite_or_null(c.parent)},
               {"after", finite_or_null(c.candidate)},
               {"unit", c.unit}};
  if (c.counted)
    json.update({{"only_parent_right", c.counted->only_parent},
                 {"only_candidate_right", c.counted->only_candidate},
                 {"mcnemar_p", c.counted->mcnemar_p}});
  else
    json.update({{"distinct_texts", c.texts},
                 {"differing_texts", c.differing_texts},
                 {"change_half_width", finite_or_null(c.half_width)}});
  return json;
}

FigureChange change_from(const Gate& gate, const Json& json) {
  const std::int64_t examples = json.at("examples");
  const double evidence = json.at("evidence");
  FigureChange change;
  if (json.at("change_interval").is_null())
    change = {.examples = examples, .evidence = evidence, .change = std::nan("")};
  else if (json.contains("only_parent_right"))
    change = accuracy_change({.examples = examples,
                              .evidence = evidence,
                              .flip_interval = {},
                              .only_parent = json.at("only_parent_right"),
                              .only_candidate = json.at("only_candidate_right"),
                              .mcnemar_p = json.at("mcnemar_p")});
  else
    change = ratio_change(gate.figure, examples, evidence,
                          {json.at("change"), json.at("change_half_width"),
                           json.at("distinct_texts"), json.at("differing_texts")});
  change.figure = gate.figure;
  change.unit = json.at("unit");
  change.parent = number_or_nan(json.at("before"));
  change.candidate = number_or_nan(json.at("after"));
  return change;
}

std::string words_of(Conclusion conclusion) {
  if (conclusion == Conclusion::within_limit) return "passed";
  return conclusion == Conclusion::exceeds_limit ? "failed" : "inconclusive";
}

// The one gate is on the metric by which the task is judged, so that headline and table tell all of it.
bool is_told_already(const JudgedGates& judged) {
  const FigureName& figure = judged.gates.front().figure;
  return judged.gates.size() == 1 && (figure == kAccuracy || figure == kR2 || figure == kMicroF1);
}

}  // namespace

std::vector<Gate> gates_for(const GateOptions& options, const LabelScheme& scheme) {
  std::vector<Gate> gates;
  for (const std::string& text : options.gates) {
    gates.push_back(parse_gate(text, scheme));
    const auto same = std::ranges::find(gates, gates.back().figure, &Gate::figure);
    user_check(same == gates.end() - 1, "two gates are on {}: '{}' and '{}'; leave one out",
               gates.back().figure.text, same->text, text);
  }
  if (!options.max_drop_points) return gates;
  const Gate judged = parse_gate(
      fmt::format("{}>={:.17g}", metrics(scheme.task).front().name, -*options.max_drop_points),
      scheme);
  if (std::ranges::find(gates, judged.figure, &Gate::figure) == gates.end()) {
    gates.insert(gates.begin(), judged);
    gates.front().text = fmt::format("{}>={:g}", judged.metric, -*options.max_drop_points);
  }
  return gates;
}

double margin_for(const std::vector<Gate>& gates, const FigureName& figure) {
  const auto found = std::ranges::find(gates, figure, &Gate::figure);
  return found == gates.end() ? kUsualMargin : found->margin;
}

const Verdict& hardest(const GateVerdict& verdict) {
  const auto p = [](const Verdict& one) { return std::isnan(one.p_value) ? 2 : one.p_value; };
  return *std::ranges::max_element(verdict.gates, {}, p);
}

JudgedGates judge(const std::vector<Gate>& gates, const Logits& parent, const Logits& candidate,
                  const Truth& truth, std::int64_t evaluations) {
  JudgedGates judged{.gates = gates};
  if (judged.any()) judged.changes = gated_changes(gates, parent, candidate, truth);
  if (judged.any()) judged.verdict = judge_gates(gates, judged.changes, evaluations);
  return judged;
}

ParentJudged judge_parent(const std::vector<Gate>& gates, const Logits& parent, const Truth& truth,
                          std::int64_t evaluations) {
  const std::vector<FigureChange> changes = gated_changes(gates, parent, parent, truth);
  const auto judged_once_of = [&](std::int64_t count) {
    GateVerdict all = judge_gates(gates, changes, count);
    std::erase_if(all.gates, [](const Verdict& one) { return one.margin <= 0; });
    return all;
  };
  const auto shows = [&](std::int64_t count) {
    return std::ranges::all_of(judged_once_of(count).gates, &Verdict::kept);
  };
  ParentJudged judged{.passes = shows(evaluations)};
  if (judged.passes) return judged;
  judged.hardest = hardest(judged_once_of(evaluations));
  std::int64_t low = 0, high = evaluations;  // the more evaluations, the harder
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (shows(middle) ? low : high) = middle;
  }
  judged.evaluations_that_show = low;
  return judged;
}

std::string too_few_sentence(const ParentJudged& judged, const std::string& measured_on,
                             const std::string& evaluations, const std::string& option) {
  if (judged.passes) return "";
  std::vector<std::string> ways;
  if (judged.hardest.examples_needed)
    ways.push_back(fmt::format("{} examples for {}", about_text(*judged.hardest.examples_needed),
                               judged.hardest.figure.text));
  if (judged.evaluations_that_show > 0)
    ways.push_back(fmt::format("{} {}", option, judged.evaluations_that_show));
  return fmt::format(
      "On {}, not even the baseline compared with itself would be shown to be within the limit in "
      "{}; {} would do.",
      measured_on, evaluations,
      ways.empty() ? "more examples, or gates that allow more,"
                   : fmt::format("{}", fmt::join(ways, ", or ")));
}

std::vector<JudgedGates> judge_choice(const std::vector<std::vector<Gate>>& gates,
                                      const std::vector<std::vector<FigureChange>>& changes) {
  const std::vector<GateVerdict> verdicts = judge_gates_of_choice(gates, changes);
  std::vector<JudgedGates> judged;
  for (std::size_t i = 0; i < changes.size(); ++i)
    judged.push_back({gates[i], changes[i], verdicts[i]});
  return judged;
}

JudgedGates judge_seeds(const std::vector<Gate>& gates, const std::vector<Json>& results) {
  JudgedGates judged{.gates = gates};
  if (!judged.any()) return judged;
  std::vector<SeedChanges> changes(gates.size());
  for (const Json& result : results)
    for (std::size_t i = 0; i < gates.size(); ++i) {
      FigureChange change = change_from(gates[i], result.at("gate").at("gates").at(i));
      changes[i].before.push_back(change.parent);
      changes[i].after.push_back(change.candidate);
      changes[i].changes.push_back(std::move(change));
    }
  judged.verdict = judge_gates_of_seeds(gates, changes);
  return judged;
}

Json to_json(const JudgedGates& judged) {
  Json rows = Json::array();
  for (std::size_t i = 0; i < judged.gates.size(); ++i) {
    const Gate& gate = judged.gates[i];
    const Verdict& v = judged.verdict.gates[i];
    Json row = {
        {"gate", gate.text},
        {"metric", gate.metric},
        {"class", gate.of_class ? Json(gate.class_name) : Json()},
    };
    row.update(verdict_json(v, "change"));
    if (!judged.changes.empty()) row.update(to_json(judged.changes[i]));
    rows.push_back(std::move(row));
  }
  return {{"passed", judged.verdict.kept()},
          {"verdict", to_string(judged.verdict.conclusion)},
          {"summary", judged.verdict.summary},
          {"gates", rows}};
}

Table gate_table(const JudgedGates& judged) {
  const bool one_seed = !judged.changes.empty();
  std::vector<Column> columns = {{"gate", "Gate"}};
  if (one_seed)
    for (const auto& [key, title] :
         {std::pair{"examples", "n"}, {"before", "Before"}, {"after", "After"}})
      columns.push_back({key, title});
  columns.insert(columns.end(), {{"change", "Change (points)"},
                                 {"verdict", "Verdict"},
                                 {"examples_needed", "Examples needed"}});
  Table table(std::move(columns));
  for (std::size_t i = 0; i < judged.gates.size(); ++i) {
    const Verdict& v = judged.verdict.gates[i];
    std::vector<Cell> row = {judged.gates[i].text};
    if (one_seed) {
      const FigureChange& change = judged.changes[i];
      row.insert(row.end(), {change.examples, percent(change.parent), percent(change.candidate)});
    }
    row.push_back(v.change_interval
                      ? points_within(v.change, v.change_interval->low, v.change_interval->high)
                      : Cell(absent));
    row.push_back(verdict_cell(v));
    row.push_back(v.examples_needed ? Cell(*v.examples_needed) : Cell(absent));
    table.add_row(std::move(row));
  }
  return table;
}

std::string gate_text(const JudgedGates& judged, const std::string& measured_on) {
  if (is_told_already(judged))
    return fmt::format("Gate on {} ({}): {}.", measured_on, judged.gates.front().text,
                       words_of(judged.verdict.conclusion));
  return fmt::format("Gate{} on {}: {}; {}.", judged.gates.size() == 1 ? "" : "s", measured_on,
                     words_of(judged.verdict.conclusion), judged.verdict.summary);
}

std::vector<Block> gate_blocks(const JudgedGates& judged, const std::string& measured_on) {
  if (!judged.any()) return {};
  if (is_told_already(judged)) return {Paragraph{gate_text(judged, measured_on)}};
  return {PageTable{gate_table(judged), gate_text(judged, measured_on)}};
}

std::optional<GateOutcome> outcome_of(const JudgedGates& judged, const std::string& measured_on) {
  if (!judged.any()) return std::nullopt;
  return GateOutcome{judged.verdict.kept(), gate_text(judged, measured_on), judged.verdict.summary};
}

Json to_json(const std::vector<LostClass>& lost, const std::vector<std::string>& labels) {
  Json rows = Json::array();
  for (const LostClass& one : lost)
    rows.push_back({{"class", labels[static_cast<std::size_t>(one.index)]},
                    {"examples", one.examples},
                    {"recall_change", one.change},
                    {"recall_change_interval", {one.interval.low, one.interval.high}},
                    {"p_value", one.p_value}});
  return rows;
}

std::vector<std::string> lost_class_sentences(const std::vector<LostClass>& lost,
                                              const std::vector<std::string>& labels) {
  std::vector<std::string> sentences;
  for (const LostClass& one : lost)
    sentences.push_back(fmt::format(
        "recall of '{}' fell by {:.1f} points (95% CI {} to {}; n = {}; McNemar p = {:.2g}, "
        "corrected for all classes)",
        shown_name(labels[static_cast<std::size_t>(one.index)]), -100 * one.change,
        points_text(one.interval.low), points_text(one.interval.high), grouped(one.examples),
        one.p_value));
  return sentences;
}

}  // namespace hone
