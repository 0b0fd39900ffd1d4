#include "hone/app/class_table.h"

#include "hone/base/error.h"
#include "hone/base/text.h"
#include "hone/metrics/evidence.h"

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
  const Evaluation& e = measured.second;
  return part_text(measured.first, e.examples, effective_examples(e.examples, e.evidence));
}

}  // namespace

Table class_table(const Evaluation& e, const std::vector<std::string>& labels, bool confusion) {
  std::vector<Column> columns = {{"label", "Class"},
                                 {"support", "Texts"},
                                 {"precision", "Precision"},
                                 {"recall", "Recall"},
                                 {"f1", "F1", 1}};
  if (confusion)
    for (std::size_t c = 0; c < labels.size(); ++c)
      columns.push_back({fmt::format("taken_for_{}", c), "taken for " + labels[c]});
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

}  // namespace hone
