#include "hone/study/gates.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <ranges>

#include "hone/base/error.h"
#include "hone/base/percentage.h"
#include "hone/base/printable.h"
#include "hone/base/text.h"
#include "hone/metrics/evidence.h"
#include "hone/metrics/gate.h"
#include "hone/metrics/metric.h"
#include "hone/metrics/planning.h"
#include "hone/metrics/verdict_text.h"
#include "hone/study/change_headline.h"
#include "hone/study/comparison_table.h"
#include "hone/study/measure.h"

namespace hone {
namespace {

// Returns the beginnings of gates, without points, on metrics where higher is better.
std::vector<std::string> gate_beginnings() {
  std::vector<std::string> beginnings;
  for (const std::string& name : metric_names())
    for (const Task task : {Task::single_label, Task::regression, Task::multi_label})
      if (const Metric* metric = metric_called(task, name)) {
        if (metric->greater_is_better) beginnings.push_back(name + ">=-");
        break;
      }
  return beginnings;
}

// Restores the change from a result of `gate_result`.
MetricChange change_from(const Gate& gate, const GatedChangeResult& result) {
  MetricChange change;
  const std::int64_t examples = result.examples.value();
  const double evidence = result.evidence.value();
  if (!result.verdict.change_interval)
    change = {.examples = examples, .evidence = evidence, .change = std::nan("")};
  else if (result.only_baseline_right)
    change = accuracy_change({.examples = examples,
                              .evidence = evidence,
                              .flip_interval = {},
                              .only_baseline = *result.only_baseline_right,
                              .only_candidate = *result.only_candidate_right,
                              .mcnemar_p = *result.mcnemar_p});
  else
    change = ratio_change(gate.metric, examples, evidence,
                          {result.verdict.change, result.change_half_width.value_or(std::nan("")),
                           *result.distinct_examples, *result.differing_examples});
  change.metric = gate.metric;
  change.unit = result.unit.value_or("");
  change.baseline = result.before.value_or(std::nan(""));
  change.candidate = result.after.value_or(std::nan(""));
  return change;
}

std::string words_of(Conclusion conclusion) {
  if (conclusion == Conclusion::within_limit) return "passed";
  return conclusion == Conclusion::exceeds_limit ? "failed" : "inconclusive";
}

std::int64_t effective_of(const MetricChange& change) {
  return effective_examples(change.examples, change.evidence);
}

// Returns "= 0.012" or "< 1e-300".
std::string p_text(double p) {
  const std::string text = display_text(p_value(p));
  return text.starts_with('<') ? text : "= " + text;
}

// Returns "recall of legal within 2 points (81.2% → 80.9%)"; over seeds "… (-0.30 points)".
std::string headline_of(const JudgedGates& judged, std::size_t gate) {
  const Verdict& verdict = judged.verdict.gates[gate];
  if (std::isnan(verdict.change)) return fmt::format("{} is not defined", verdict.metric.text);
  if (judged.changes.empty())
    return change_headline(points_text(verdict.change) + " points", verdict);
  return change_headline(judged.changes[gate].baseline, judged.changes[gate].candidate, verdict);
}

// See `BaselineVerdict::min_limit_points`.
std::optional<double> least_points(const MetricChange& change, const Verdict& hardest) {
  constexpr int kMostHalves = 20;
  for (int halves = 1; halves <= kMostHalves; ++halves)
    if (const double points = halves / 2.0;
        points > 100 * hardest.margin &&
        verdict_of_evaluation(change, hardest.candidates, points / 100).within_limit())
      return points;
  return std::nullopt;
}

// Returns ", although the whole interval is within the limit: …"; "" if the interval already shows why.
std::string why_inconclusive(const Verdict& v) {
  if (v.conclusion != Conclusion::inconclusive) return "";
  const bool within = v.change_interval && v.change_interval->low >= -v.margin;
  const char* although = within ? ", although the whole interval is within the limit" : "";
  if (!v.overruled_by.empty()) return fmt::format("{}: {}", although, v.overruled_by);
  if (!within || v.candidates == 1) return "";
  return fmt::format("{}: the test is corrected for {} comparisons", although, v.candidates);
}

// Returns the verdict, with the reason if the interval suggests another one: "inconclusive (corrected p = 0.054)".
Cell gate_verdict_cell(const Verdict& v) {
  if (v.conclusion != Conclusion::inconclusive || !v.change_interval ||
      v.change_interval->low < -v.margin)
    return verdict_cell(v);
  if (v.p_value > kVerdictLevel)
    return toned(fmt::format("inconclusive (corrected p {})", p_text(v.p_value)), Tone::unclear);
  return v.overruled_by.empty() ? verdict_cell(v)
                                : toned("inconclusive on the split that decides", Tone::unclear);
}

// Returns "may drop by up to 2 points" or "must rise by at least 1 point".
std::string allowed_text(double margin) {
  if (margin == 0) return "may not drop";
  const double points = 100 * std::fabs(margin);
  return fmt::format("{} {:g} point{}", margin < 0 ? "must rise by at least" : "may drop by up to",
                     points, points == 1 ? "" : "s");
}

// Whether the only gate is on the task's main metric, so that headline and table already show all of it.
bool is_shown_already(const JudgedGates& judged) {
  const MetricName& metric = judged.gates.front().metric;
  return judged.gates.size() == 1 && (metric == kAccuracy || metric == kR2 || metric == kMicroF1);
}

}  // namespace

std::vector<Gate> gates_for(const GateOptions& options, const LabelScheme& scheme) {
  std::vector<Gate> gates;
  for (const std::string& text : options.gates) {
    gates.push_back(parse_gate(text, scheme));
    const auto same = std::ranges::find(gates, gates.back().metric, &Gate::metric);
    user_check(same == gates.end() - 1, "two gates are on {}: '{}' and '{}'; leave one out",
               gates.back().metric.text, same->text, text);
  }
  const std::optional<double> drop =
      options.max_drop_points ? options.max_drop_points : options.default_drop_points;
  if (!drop) return gates;
  Gate judged =
      parse_gate(fmt::format("{}>={:.17g}", metrics(scheme.task).front().name, -*drop), scheme);
  const auto same = std::ranges::find(gates, judged.metric, &Gate::metric);
  user_check(same == gates.end() || !options.max_drop_points,
             "two gates are on {}: `max_drop` {:g} and '{}'; leave one out", judged.metric.text,
             *drop, same == gates.end() ? "" : same->text);
  if (same != gates.end()) return gates;
  judged.text = fmt::format("{}>={:g}", judged.base_metric, -*drop);
  gates.insert(gates.begin(), std::move(judged));
  return gates;
}

double margin_for(const std::vector<Gate>& gates, const MetricName& metric) {
  const auto found = std::ranges::find(gates, metric, &Gate::metric);
  return found == gates.end() ? kDefaultMargin : found->margin;
}

const Verdict& hardest(const GateVerdict& verdict) {
  const auto p = [](const Verdict& one) { return std::isnan(one.p_value) ? 2 : one.p_value; };
  return *std::ranges::max_element(verdict.gates, {}, p);
}

JudgedGates judge(const std::vector<Gate>& gates, const Logits& baseline, const Logits& candidate,
                  const Truth& truth, std::int64_t evaluations) {
  JudgedGates judged{.gates = gates};
  if (judged.any()) judged.changes = gated_changes(gates, baseline, candidate, truth);
  if (judged.any()) judged.verdict = judge_gates(gates, judged.changes, evaluations);
  if (judged.any() && !truth.unseen.empty()) {
    const UnseenExamples unseen(truth);
    const std::vector<float> a = unseen.rows_of(baseline), b = unseen.rows_of(candidate);
    judged.unseen = judge_gates(
        gates, gated_changes(gates, {a, baseline.classes}, {b, candidate.classes}, unseen.truth()),
        evaluations);
  }
  return judged;
}

std::optional<std::int64_t> examples_needed(const JudgedGates& judged, std::int64_t effective) {
  std::optional<std::int64_t> most;
  for (std::size_t i = 0; i < judged.gates.size(); ++i) {
    const Verdict& v = judged.verdict.gates[i];
    if (v.within_limit()) continue;
    if (!v.examples_needed || v.change < -v.margin) return std::nullopt;
    const double share = static_cast<double>(effective_of(judged.changes[i])) /
                         static_cast<double>(std::max<std::int64_t>(1, effective));
    const double needed = std::ceil(static_cast<double>(*v.examples_needed) / share);
    most = std::max(most.value_or(0), static_cast<std::int64_t>(needed));
  }
  return most;
}

BaselineVerdict judge_baseline(const std::vector<Gate>& gates, const Logits& baseline,
                               const Truth& truth, std::int64_t evaluations) {
  const std::vector<MetricChange> changes = gated_changes(gates, baseline, baseline, truth);
  const auto judged_once_of = [&](std::int64_t count) {
    const GateVerdict all = judge_gates(gates, changes, count);
    JudgedGates asked;
    for (std::size_t i = 0; i < gates.size(); ++i) {
      if (gates[i].margin <= 0 || !changes[i].is_discrete) continue;
      asked.gates.push_back(gates[i]);
      asked.changes.push_back(changes[i]);
      asked.verdict.gates.push_back(all.gates[i]);
    }
    return asked;
  };
  const auto shows = [&](std::int64_t count) {
    return std::ranges::all_of(judged_once_of(count).verdict.gates, &Verdict::within_limit);
  };
  BaselineVerdict judged{.passes = shows(evaluations)};
  if (judged.passes) return judged;
  const JudgedGates asked = judged_once_of(evaluations);
  judged.hardest = hardest(asked.verdict);
  const auto gate = std::ranges::find(gates, judged.hardest.metric, &Gate::metric);
  judged.counted = gated_examples(*gate);
  judged.examples_needed =
      examples_needed(asked, effective_examples(baseline.examples(), evidence(truth.texts)));
  if (std::ranges::count_if(asked.verdict.gates, &Verdict::within_limit) + 1 ==
      std::ssize(asked.verdict.gates))
    judged.min_limit_points =
        least_points(changes[static_cast<std::size_t>(gate - gates.begin())], judged.hardest);
  std::int64_t low = 0, high = evaluations;  // more evaluations make it harder
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (shows(middle) ? low : high) = middle;
  }
  judged.max_evaluations = low;
  return judged;
}

std::string needed_text(const BaselineVerdict& judged, const std::string& option) {
  std::vector<std::string> remedies;
  if (judged.hardest.examples_needed)
    remedies.push_back(fmt::format("{} {} for {}", about_text(*judged.hardest.examples_needed),
                                   judged.counted, judged.hardest.metric.text));
  if (judged.max_evaluations > 0)
    remedies.push_back(fmt::format("{} {}", option, judged.max_evaluations));
  return remedies.empty() ? "more examples, or a wider limit"
                          : fmt::format("{}", fmt::join(remedies, ", or "));
}

std::string too_few_sentence(const BaselineVerdict& judged, const std::string& measured_on,
                             const std::string& evaluations) {
  if (judged.passes) return "";
  return fmt::format(
      "Too few examples: on {}, not even the baseline compared with itself would be shown to be "
      "within the limit in {}.",
      measured_on, evaluations);
}

std::vector<JudgedGates> judge_choice(const std::vector<std::vector<Gate>>& gates,
                                      const std::vector<std::vector<MetricChange>>& changes) {
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
  for (const Json& result : results) {
    const auto judged_before = from_json<GateResult>(result.at("gate"));
    for (std::size_t i = 0; i < gates.size(); ++i) {
      MetricChange change = change_from(gates[i], judged_before.gates.at(i));
      changes[i].before.push_back(change.baseline);
      changes[i].after.push_back(change.candidate);
      changes[i].changes.push_back(std::move(change));
    }
  }
  judged.verdict = judge_gates_of_seeds(gates, changes);
  return judged;
}

const Fields& fields_of(const GatedChangeResult*) {
  using G = GatedChangeResult;
  static const Fields fields = describe<G>(
      "gated_change", "One gate.",
      field<&G::gate>("gate", "As it was given; that of --max_drop as METRIC>=-POINTS."),
      field<&G::of_class>("class", "Its class or label; null: of the whole."),
      inlined<&G::verdict>(),
      field<&G::examples>("examples", Unit::examples, "Those the metric is computed from."),
      field<&G::evidence>("evidence", Unit::share,
                          "Of each example, as some repeat others; null over seeds."),
      field<&G::before>("before", "Metric of the baseline; null: not defined, or over seeds."),
      field<&G::after>("after", "Metric of the candidate; null: not defined, or over seeds."),
      field<&G::unit>("unit", "Which examples are counted where not all are."),
      field<&G::only_baseline_right>("only_baseline_right", Unit::examples,
                                     "Correct → wrong; null for metrics that are not proportions."),
      field<&G::only_candidate_right>(
          "only_candidate_right", Unit::examples,
          "Wrong to correct; null for metrics that are no proportions."),
      field<&G::mcnemar_p>("mcnemar_p", "McNemar's exact test on these two."),
      field<&G::distinct_examples>("distinct_examples", Unit::examples,
                                   "Different ones; null for proportions."),
      field<&G::differing_examples>(
          "differing_examples", Unit::examples,
          "Different examples on which the models differ; null for proportions."),
      field<&G::change_half_width>(
          "change_half_width",
          "Half of the interval of the change before it was limited to the "
          "possible range; null for proportions."));
  return fields;
}

const Fields& fields_of(const GateResult*) {
  using G = GateResult;
  static const Fields fields = describe<G>(
      "gate", "Whether all gates hold.",
      field<&G::passed>("passed", "Whether all are within their limits."),
      field<&G::verdict>("verdict", "exceeds limit: one gate does; else inconclusive if one is."),
      field<&G::summary>("summary", "The same in a sentence."),
      field<&G::gates>("gates", "One by one."));
  return fields;
}

GateResult gate_result(const JudgedGates& judged) {
  GateResult result{
      judged.verdict.within_limit(), judged.verdict.conclusion, judged.verdict.summary, {}};
  for (std::size_t i = 0; i < judged.gates.size(); ++i) {
    const Gate& gate = judged.gates[i];
    GatedChangeResult row{.gate = gate.text, .verdict = judged.verdict.gates[i]};
    if (gate.of_class) row.of_class = gate.class_name;
    row.verdict.metric.key = gate.base_metric;
    if (!judged.changes.empty()) {
      const MetricChange& c = judged.changes[i];
      row.examples = c.examples;
      row.evidence = c.evidence;
      row.before = c.baseline;
      row.after = c.candidate;
      row.unit = c.unit;
      if (c.counted) {
        row.only_baseline_right = c.counted->only_baseline;
        row.only_candidate_right = c.counted->only_candidate;
        row.mcnemar_p = c.counted->mcnemar_p;
      } else {
        row.distinct_examples = c.texts;
        row.differing_examples = c.differing_texts;
        row.change_half_width = c.half_width;
      }
    }
    result.gates.push_back(std::move(row));
  }
  return result;
}

std::optional<GateResult> gate_result_if_any(const JudgedGates& judged) {
  return judged.any() ? std::optional(gate_result(judged)) : std::nullopt;
}

Table gate_table(const JudgedGates& judged) {
  const bool one_seed = !judged.changes.empty();
  const bool of_classes =
      std::ranges::any_of(judged.gates, [](const Gate& gate) { return gate.of_class.has_value(); });
  const bool repeat = std::ranges::any_of(
      judged.changes, [](const MetricChange& c) { return effective_of(c) != c.examples; });
  std::vector<Column> columns = {{"gate", "Gate"}};
  if (of_classes) columns.push_back({"counted", "Counts"});
  if (one_seed) columns.push_back({"examples", "n"});
  if (repeat) columns.push_back({"effective_examples", "Effective n"});
  if (one_seed) columns.insert(columns.end(), {{"before", "Before"}, {"after", "After"}});
  columns.insert(columns.end(), {{"change", "Change (points)"},
                                 {"verdict", "Verdict"},
                                 {"examples_needed", "Examples needed"}});
  Table table(std::move(columns));
  for (std::size_t i = 0; i < judged.gates.size(); ++i) {
    const Verdict& v = judged.verdict.gates[i];
    std::vector<Cell> row = {judged.gates[i].text};
    if (of_classes) row.emplace_back(gated_examples(judged.gates[i]));
    if (one_seed) {
      const MetricChange& change = judged.changes[i];
      row.emplace_back(change.examples);
      if (repeat) row.emplace_back(effective_of(change));
      row.insert(row.end(), {percent(change.baseline), percent(change.candidate)});
    }
    const Interval interval = v.change_interval.value_or(Interval{std::nan(""), std::nan("")});
    row.push_back(points_within(v.change, interval.low, interval.high));
    row.push_back(gate_verdict_cell(v));
    row.push_back(v.examples_needed ? Cell(*v.examples_needed) : Cell(absent));
    table.add_row(std::move(row));
  }
  return table;
}

Cell gates_cell(const JudgedGates& judged) {
  return toned(words_of(judged.verdict.conclusion), tone_of(judged));
}

std::string gate_headline(const JudgedGates& judged) {
  if (judged.gates.size() == 1) return headline_of(judged, 0);
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < judged.gates.size(); ++i)
    if (judged.verdict.gates[i].conclusion == judged.verdict.conclusion)
      parts.push_back(headline_of(judged, i));
  const std::string outcome = words_of(judged.verdict.conclusion);
  return fmt::format("{} gates {}: {}",
                     parts.size() == judged.gates.size()
                         ? std::to_string(parts.size())
                         : fmt::format("{} of {}", parts.size(), judged.gates.size()),
                     outcome, fmt::join(parts, ", "));
}

Tone tone_of(const JudgedGates& judged) {
  return tone_of(Verdict{.conclusion = judged.verdict.conclusion});
}

std::optional<Verdict> shown_verdict(const JudgedGates& judged, const MetricName& metric) {
  const auto on_it = std::ranges::find(judged.gates, metric, &Gate::metric);
  if (on_it == judged.gates.end()) return std::nullopt;
  return judged.verdict.gates[static_cast<std::size_t>(on_it - judged.gates.begin())];
}

std::string change_evidence(const JudgedGates& judged, const Verdict& usual, bool differs,
                            const std::string& notes) {
  if (const std::optional<Verdict> shown = shown_verdict(judged, usual.metric))
    return shown->summary;
  return unjudged_text(usual, differs, notes);
}

std::string unseen_change_sentence(const JudgedGates& judged, const TaskComparison& comparison) {
  if (!comparison.unseen) return "";
  const MetricChange& change = *comparison.unseen;
  const JudgedGates unseen{.gates = judged.unseen ? judged.gates : std::vector<Gate>(),
                           .verdict = judged.unseen.value_or(GateVerdict{})};
  return fmt::format(
      " {}: {}.",
      unseen_text(comparison.change.examples - change.examples, change.examples, change.evidence),
      change_evidence(unseen, verdict(change), change.differs, change.notes));
}

std::string gate_text(const JudgedGates& judged, const std::string& measured_on) {
  if (is_shown_already(judged))
    return fmt::format("Limit ({} {}) on {}: {}{}.", judged.gates.front().metric.text,
                       allowed_text(judged.verdict.gates.front().margin), measured_on,
                       words_of(judged.verdict.conclusion),
                       why_inconclusive(judged.verdict.gates.front()));
  return fmt::format("Gate{} on {}: {}; {}.", judged.gates.size() == 1 ? "" : "s", measured_on,
                     words_of(judged.verdict.conclusion), judged.verdict.summary);
}

std::vector<Block> gate_blocks(const JudgedGates& judged, const std::string& measured_on) {
  if (!judged.any()) return {};
  if (is_shown_already(judged)) return {Paragraph{gate_text(judged, measured_on)}};
  return {PageTable{gate_table(judged), gate_text(judged, measured_on)}};
}

std::optional<GateOutcome> outcome_of(const JudgedGates& judged) {
  if (!judged.any()) return std::nullopt;
  return GateOutcome{judged.verdict.within_limit(), judged.verdict.summary};
}

const Fields& fields_of(const DegradedClassResult*) {
  using L = DegradedClassResult;
  static const Fields fields = describe<L>(
      "lost_class",
      "A class, or label, whose recall fell significantly: McNemar's exact test on its examples, "
      "corrected for all classes (Holm), 5%.",
      field<&L::name>("class", "Its name."),
      field<&L::examples>("examples", Unit::examples, "Examples of the class."),
      field<&L::recall_change>("recall_change", Unit::difference, "After minus before."),
      field<&L::recall_change_interval>("recall_change_interval", Unit::difference,
                                        "95% interval, for this class only."),
      field<&L::p_value>("p_value", "Corrected."));
  return fields;
}

std::vector<DegradedClassResult> degraded_class_results(const std::vector<DegradedClass>& lost,
                                                        const std::vector<std::string>& labels) {
  std::vector<DegradedClassResult> results;
  for (const DegradedClass& one : lost)
    results.push_back({labels[static_cast<std::size_t>(one.index)], one.examples, one.change,
                       one.interval, one.p_value});
  return results;
}

namespace {

const std::string& lost_name(const DegradedClass& one, const std::vector<std::string>& labels) {
  return labels[static_cast<std::size_t>(one.index)];
}

}  // namespace

Table degraded_class_table(const std::vector<DegradedClass>& lost,
                           const std::vector<std::string>& labels) {
  Table table({{"class", "Class"},
               {"examples", "Examples"},
               {"recall_change", "Recall change (points)"},
               {"p_value", "p (McNemar, Holm)"}});
  for (const DegradedClass& one : lost)
    table.add_row({lost_name(one, labels), one.examples,
                   points_within(one.change, one.interval.low, one.interval.high),
                   p_value(one.p_value)});
  return table;
}

std::string degraded_class_text(const std::vector<DegradedClass>& lost,
                                const std::vector<std::string>& labels) {
  constexpr std::size_t kMostNamed = 2;
  std::vector<std::string> parts;
  for (const DegradedClass& one : lost | std::views::take(kMostNamed))
    parts.push_back(fmt::format("of '{}'{} by {} points (95% CI {} to {}; n = {}; p {})",
                                shown_name(lost_name(one, labels)), parts.empty() ? " fell" : "",
                                rounded_text(-100 * one.change, kDifferenceDigits),
                                rounded_text(-100 * one.interval.high, kDifferenceDigits),
                                rounded_text(-100 * one.interval.low, kDifferenceDigits),
                                grouped(one.examples), p_text(one.p_value)));
  if (const std::size_t rest = lost.size() - parts.size(); rest > 0)
    parts.push_back(
        fmt::format("and of {} other{}, listed in the report", rest, rest == 1 ? "" : "s"));
  return fmt::format("recall {}; p: McNemar's test, Holm-corrected over all classes",
                     fmt::join(parts, ", "));
}

namespace {

// Warns about a limit that hardly any dataset is large enough for: it may be meant as a fraction.
std::string warning_of_share(const std::string& text) {
  constexpr double kShareLike = 0.1;
  const double points = std::stod(text);
  if (points <= 0 || points >= kShareLike) return "";
  return fmt::format("this means {:g} points; {:g} points are written as {:g}", points,
                     100 * points, 100 * points);
}

}  // namespace

Options options_of(const GateOptions*) { return gate_options(""); }

Options gate_options(std::string_view remark) {
  return {option<&GateOptions::max_drop_points>(
              "max_drop", fmt::format("allowed drop of accuracy, R2 or F1{}", remark))
              .from(0)
              .shown("POINTS")
              .warned(warning_of_share),
          option<&GateOptions::gates>("gate", "'f1_macro>=-2': at most 2 points below baseline")
              .repeated()
              .takes({.shown = "GATE", .choices = gate_beginnings, .is_prefix = true})
              .accepted_by(check_gate_syntax)};
}

}  // namespace hone
