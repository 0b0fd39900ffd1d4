#include "hone/app/class_table.h"

#include <algorithm>

#include "hone/app/result.h"
#include "hone/app/seeds.h"
#include "hone/base/error.h"
#include "hone/base/text.h"

namespace hone {
namespace {

// Wider or longer tables help nobody.
constexpr std::size_t kTerminalColumns = 4, kTerminalRows = 12, kPageColumns = 30;

constexpr const char* kNote =
    "Precision: of the texts taken for a class, those that are of it. Recall: of the texts of a "
    "class, "
    "those that were found. F1: their harmonic mean. In the means, which have no interval, 0/0 "
    "counts as 0.";

std::string caption(const NamedEvaluation& measured) {
  return part_text(measured.first, measured.second);
}

// Without the confusion, whose columns follow.
std::vector<Column> class_columns() {
  return {{"label", "Class"},
          {"support", "Texts"},
          {"precision", "Precision"},
          {"recall", "Recall"},
          {"f1", "F1"}};
}

void add_confusion_columns(std::vector<Column>& columns, const std::vector<std::string>& labels) {
  for (std::size_t c = 0; c < labels.size(); ++c)
    columns.push_back({fmt::format("taken_for_{}", c), "taken for " + labels[c]});
}

}  // namespace

Table class_table(const Evaluation& e, const std::vector<std::string>& labels, bool confusion) {
  std::vector<Column> columns = class_columns();
  if (confusion) add_confusion_columns(columns, labels);
  Table table(std::move(columns));
  for (std::size_t row = 0; row < labels.size(); ++row) {
    const ClassFigures& one = e.of_class[row];
    std::vector<Cell> cells = {
        labels[row], one.support,
        percent_within(one.figures.precision, one.precision_interval.low,
                       one.precision_interval.high),
        percent_within(one.figures.recall, one.recall_interval.low, one.recall_interval.high),
        percent(one.figures.f1)};
    if (confusion)
      for (std::size_t column = 0; column < labels.size(); ++column)
        cells.emplace_back(e.confusion[row * labels.size() + column]);
    table.add_row(std::move(cells));
  }
  return table;
}

std::string class_text(const std::vector<NamedEvaluation>& measured,
                       const std::vector<std::string>& labels, const TextStyle& style) {
  std::string text;
  if (labels.size() > kTerminalRows) return text;
  for (const NamedEvaluation& one : measured)
    text += fmt::format("{}:\n\n{}\n", caption(one),
                        to_text(class_table(one.second, labels,
                                            /*confusion=*/labels.size() <= kTerminalColumns),
                                style));
  return text;
}

Section class_section(const std::vector<NamedEvaluation>& measured,
                      const std::vector<std::string>& labels) {
  Section section{"Classes, and what was taken for what", {}};
  for (const NamedEvaluation& one : measured)
    section.blocks.push_back(
        PageTable{class_table(one.second, labels, labels.size() <= kPageColumns),
                  caption(one) + ": texts of each class, by prediction"});
  section.blocks.push_back(Paragraph{kNote});
  return section;
}

namespace {

std::vector<std::string> labels_of(const Json& measurement) {
  std::vector<std::string> labels;
  for (const auto& [label, figures] : measurement.at("eval_classes").items())
    labels.push_back(label);
  return labels;
}

Cell spread_cell(const std::vector<double>& shares) {
  const SeedSpread s = accuracy_spread(shares);
  if (s.interval) return percent_within(s.mean, s.interval->low, s.interval->high);
  return s.count < kFewestSeeds ? Cell(percents_text(shares)) : percent(s.mean);
}

// Results of before class figures have none.
std::vector<std::string> parts_with_classes(const std::vector<Json>& results,
                                            const std::vector<std::string>& parts) {
  std::vector<std::string> present;
  for (const std::string& part : parts)
    if (std::ranges::all_of(results, [&](const Json& result) {
          return result.contains(part) && result[part].contains("eval_classes");
        }))
      present.push_back(part);
  return present;
}

// "test, n = 1 200: mean of 5 seeds (95 %, where they differ, for other seeds on the same texts)"
std::string caption_of_seeds(const std::vector<Json>& results, const std::string& part) {
  const auto count = static_cast<std::int64_t>(results.size());
  return fmt::format(
      "{}: {} {} seeds{}", part_text(part, results.front()[part]),
      count < kFewestSeeds ? "each of" : "mean of", count,
      count < kFewestSeeds ? "" : " (95 %, where they differ, for other seeds on the same texts)");
}

}  // namespace

Table class_table_of_seeds(const std::vector<Json>& results, const std::string& part,
                           bool confusion) {
  const std::vector<std::string> labels = labels_of(results.front().at(part));
  std::vector<Column> columns = class_columns();
  if (confusion) add_confusion_columns(columns, labels);
  Table table(std::move(columns));
  for (std::size_t row = 0; row < labels.size(); ++row) {
    const auto shares = [&](const char* key) {
      std::vector<double> values;
      for (const Json& result : results) {
        const Json& share = result.at(part).at("eval_classes").at(labels[row]).at(key);
        values.push_back(share.is_number() ? share.get<double>() : 0);
      }
      return values;
    };
    const Json& first = results.front()[part]["eval_classes"][labels[row]];
    std::vector<Cell> cells = {labels[row], first.at("support").get<std::int64_t>(),
                               spread_cell(shares("precision")), spread_cell(shares("recall")),
                               spread_cell(shares("f1"))};
    for (std::size_t column = 0; confusion && column < labels.size(); ++column) {
      double texts = 0;
      for (const Json& result : results)
        texts += result.at(part).at("eval_confusion").at(row).at(column).get<double>();
      cells.push_back(real(texts / static_cast<double>(results.size()), 1));
    }
    table.add_row(std::move(cells));
  }
  return table;
}

std::string class_text_of_seeds(const std::vector<Json>& results,
                                const std::vector<std::string>& parts, const TextStyle& style) {
  std::string text;
  for (const std::string& part : parts_with_classes(results, parts)) {
    const std::size_t classes = results.front()[part]["eval_classes"].size();
    if (classes > kTerminalRows) continue;
    text += fmt::format(
        "{}:\n\n{}\n", caption_of_seeds(results, part),
        to_text(class_table_of_seeds(results, part, classes <= kTerminalColumns), style));
  }
  return text;
}

Section class_section_of_seeds(const std::vector<Json>& results,
                               const std::vector<std::string>& parts) {
  Section section{"Classes, and what was taken for what", {}};
  for (const std::string& part : parts_with_classes(results, parts)) {
    const std::size_t classes = results.front()[part]["eval_classes"].size();
    section.blocks.push_back(
        PageTable{class_table_of_seeds(results, part, classes <= kPageColumns),
                  caption_of_seeds(results, part) + "; texts of each class, by prediction"});
  }
  if (!section.blocks.empty()) section.blocks.push_back(Paragraph{kNote});
  return section;
}

}  // namespace hone
