#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "hone/base/percentage.h"
#include "hone/base/text.h"
#include "hone/jobs/model_card_sections.h"

namespace hone {

std::vector<const CardRow*> own_rows(const CardFacts& facts) {
  std::vector<const CardRow*> rows;
  for (const CardRow& row : facts.rows)
    if (row.is_own()) rows.push_back(&row);
  return rows;
}

EvaluationResult::ByName<ClassResult> of_classes_or_labels(const EvaluationResult& evaluation) {
  EvaluationResult::ByName<ClassResult> all;
  if (evaluation.classes) all = *evaluation.classes;
  if (evaluation.labels)
    for (const auto& [label, metrics] : *evaluation.labels)
      all.emplace_back(label, metrics.of_class);
  return all;
}

namespace {

constexpr std::size_t kMostConfusedClasses = 6;  // with a column for each

// Returns the element with that name, or `none`.
template <typename T>
T named(const EvaluationResult::ByName<T>& elements, std::string_view name, T none) {
  for (const auto& [own, element] : elements)
    if (own == name) return element;
  return none;
}

// "89.5 to 91.0%", "–"
std::string range_text(const Interval& interval, int digits = kShareDigits) {
  if (std::isnan(interval.low) || std::isnan(interval.high)) return std::string(kDash);
  return fmt::format("{} to {}%", percent_number(interval.low, digits),
                     percent_number(interval.high, digits));
}

// "90.3% (89.1 to 91.3%)", "–"
std::string share_within(double share, const Interval& interval) {
  if (std::isnan(share)) return std::string(kDash);
  return fmt::format("{} ({})", share_text(share), range_text(interval));
}

std::string table_line(const std::vector<std::string>& cells) {
  return fmt::format("| {} |\n", fmt::join(cells, " | "));
}

// Escapes the name of a class for a table cell.
std::string class_cell(const std::string& name) {
  std::string text = markdown_code(name);
  for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2)
    text.insert(at, 1, '\\');
  return text;
}

std::string metrics_line(std::string_view what, const EvaluationResult& m,
                         const std::string& split) {
  const double loss = metric_of(m, "loss");
  return table_line({std::string(what), split, grouped(m.samples),
                     share_text(metric_of(m, m.metric.key)), interval_of(m, m.metric.key),
                     share_text(m.constant_baseline),
                     std::isnan(loss) ? std::string(kDash) : fmt::format("{:.4f}", loss)});
}

// Describes the differences between the model and its base.
std::string comparison_text(const CardFacts& facts) {
  if (!facts.comparison) return "";
  const ComparisonResult& comparison = *facts.comparison;
  std::string text = fmt::format("Compared with the baseline: {}.", comparison.verdict.summary);
  if (comparison.flip_share)
    text += fmt::format(
        " {}: {} (95% CI {}).",
        comparison.label_flip_share ? "Texts with changed predictions" : "Changed predictions",
        flip_share_text(*comparison.flip_share),
        comparison.flip_interval ? range_text(*comparison.flip_interval, kDifferenceDigits)
                                 : std::string(kDash));
  text += "\n\n";
  return facts.caveat.empty() ? text : text + facts.caveat + "\n\n";
}

}  // namespace

double metric_of(const EvaluationResult& evaluation, std::string_view name) {
  return named(evaluation.metrics, name, std::nan(""));
}

std::string interval_of(const EvaluationResult& evaluation, std::string_view name) {
  return range_text(named(evaluation.intervals, name, Interval{std::nan(""), std::nan("")}));
}

std::string metrics_section(const CardFacts& facts) {
  std::string text = "## Metrics\n\n";
  if (facts.rows.empty()) return text + facts.no_metrics_reason + "\n\n";
  const CardRow& judged = facts.rows.back();
  text += fmt::format("| | split | n | {} | 95% interval | constant prediction | loss |\n",
                      judged.evaluation.metric.text);
  text += "|---|---|---|---|---|---|---|\n";
  for (const CardRow& row : facts.rows)
    text += metrics_line(row.is_own() ? "this model" : row.what, row.evaluation, row.split.split);
  if (facts.in_transformers)
    text +=
        metrics_line("this model in `transformers`", *facts.in_transformers, judged.split.split);
  text += "\n";
  std::vector<std::string> flattered;
  for (const CardRow* row : own_rows(facts))
    if (const std::vector<std::string> cautions = cautions_of(to_json(row->split));
        !cautions.empty())
      flattered.push_back(fmt::format("{}: {}", row->split.split, fmt::join(cautions, ", ")));
  if (!flattered.empty()) text += fmt::format("Cautions: {}.\n\n", fmt::join(flattered, "; "));
  text += comparison_text(facts);
  return facts.seed ? text +
                          "These are the metrics of one random seed; another seed gives different "
                          "ones.\n\n"
                    : text;
}

std::string classes_section(const CardFacts& facts) {
  const auto rows = own_rows(facts);
  if (rows.empty()) return "";
  const EvaluationResult& m = rows.back()->evaluation;
  const auto of_class = of_classes_or_labels(m);
  if (of_class.empty()) return "";
  const bool confused = m.confusion && of_class.size() <= kMostConfusedClasses;
  std::vector<std::string> header = {m.labels ? "label" : "class", "examples", "precision",
                                     "recall", "F1"};
  std::string lines;
  for (std::size_t row = 0; row < of_class.size(); ++row) {
    const auto& [label, one] = of_class[row];
    std::vector<std::string> cells = {class_cell(label), grouped(one.support),
                                      share_within(one.precision, one.precision_interval),
                                      share_within(one.recall, one.recall_interval),
                                      share_text(one.f1)};
    if (confused) {
      header.push_back("predicted as " + cells.front());
      for (const std::int64_t examples : m.confusion->at(row)) cells.push_back(grouped(examples));
    }
    lines += table_line(cells);
  }
  std::string rule = "|";
  for (std::size_t i = 0; i < header.size(); ++i) rule += "---|";
  return fmt::format(
      "## {}\n\nOn the {} split, n = {}; in brackets the 95% interval:\n\n{}{}\n{}\n",
      m.labels ? "Labels" : "Classes", rows.back()->split.split, grouped(m.samples),
      table_line(header), rule, lines);
}

}  // namespace hone
