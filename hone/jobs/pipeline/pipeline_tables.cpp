#include "hone/jobs/pipeline/pipeline_tables.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "hone/base/text.h"
#include "hone/jobs/pipeline/pipeline_formulas.h"
#include "hone/jobs/pipeline/pipeline_values.h"
#include "hone/jobs/search/best_history.h"

namespace hone {
namespace {

// Returns the number of decimals of a plain number; none for other text.
std::optional<int> decimals_in(const std::string& text) {
  constexpr std::size_t kMaxDigits = 15;
  if (text.size() > kMaxDigits || std::ranges::count(text, '.') > 1 ||
      text.find_first_not_of("0123456789.") != std::string::npos ||
      std::isnan(number_in_text(text)))
    return std::nullopt;
  const std::size_t point = text.find('.');
  return point == std::string::npos ? 0 : static_cast<int>(text.size() - point - 1);
}

// Returns the names of rows, as numbers if all of them are plain numbers.
std::vector<Cell> row_cells(const std::vector<std::string>& rows) {
  std::vector<Cell> texts(rows.begin(), rows.end()), numbers;
  int digits = 0;
  for (const std::string& row : rows) {
    const std::optional<int> own = decimals_in(row);
    if (!own) return texts;
    digits = std::max(digits, *own);
  }
  for (const std::string& row : rows) {
    const double value = number_in_text(row);
    numbers.push_back(digits == 0 ? Cell(static_cast<std::int64_t>(value)) : real(value, digits));
  }
  return numbers;
}

// Turns "after_training" into "after training".
std::string with_spaces(std::string name) {
  std::ranges::replace(name, '_', ' ');
  return name;
}
std::vector<std::string> with_spaces(std::vector<std::string> names) {
  for (std::string& name : names) name = with_spaces(std::move(name));
  return names;
}

// Returns the mean of several stages, with the lowest and the highest.
Cell mean_cell(const std::vector<Estimate>& stages) {
  Estimate mean{.low = stages[0].value,
                .high = stages[0].value,
                .of = stages[0].of,
                .runs = std::ssize(stages)};
  for (const Estimate& one : stages) {
    mean.value += one.value / static_cast<double>(stages.size());
    mean.low = std::min(mean.low, one.value);
    mean.high = std::max(mean.high, one.value);
  }
  return mean;
}

/// Builds a table with `by`.
class TableMaker {
 public:
  TableMaker(const PipelineTable& described, const PipelineFindings& findings)
      : described_(described), findings_(findings) {}

  Table made() {
    std::vector<Column> columns = {{described_.by, row_label()}};
    for (std::size_t c = 0; c < described_.columns.size(); ++c) {
      columns.push_back({described_.columns[c].key, described_.columns[c].label});
      for (const std::size_t index : described_.columns[c].stages) put(index, c);
    }
    const auto is_text = [](const std::string& row) { return std::isnan(number_in_text(row)); };
    if (std::ranges::none_of(rows_, is_text)) std::ranges::stable_sort(rows_, {}, number_in_text);
    Table table(columns);
    const std::vector<Cell> names =
        described_.by == "stage" ? row_cells(with_spaces(rows_)) : row_cells(rows_);
    for (std::size_t row = 0; row < rows_.size(); ++row) {
      std::vector<Cell> line = {names[row]};
      for (std::size_t c = 0; c < described_.columns.size(); ++c) {
        const std::vector<std::size_t>& stages = cells_[{rows_[row], c}];
        line.push_back(described_.columns[c].within
                           ? counts_cell(described_.columns[c], stages)
                           : cell_of_stages(described_.columns[c].y, stages));
      }
      table.add_row(line);
    }
    return table;
  }

 private:
  const PipelineStage& stage(std::size_t index) const { return findings_.pipeline.stages[index]; }

  // Uses the label of the figures that show the variable.
  std::string row_label() const {
    for (const PipelineFigure& figure : findings_.pipeline.figures)
      if (figure.x == described_.by) return figure.x_label;
    return capitalized(with_spaces(described_.by));
  }

  void put(std::size_t index, std::size_t column) {
    const std::string* const value =
        described_.by == "stage" ? &stage(index).name : variable_of(stage(index), described_.by);
    HONE_ASSERT(value != nullptr, "stage {} has no {}", stage(index).name, described_.by);
    if (std::ranges::find(rows_, *value) == rows_.end()) rows_.push_back(*value);
    cells_[{*value, column}].push_back(index);
  }

  Cell cell_of_stages(const ValueFormula& y, const std::vector<std::size_t>& stages) const {
    std::vector<Estimate> numbers;
    std::vector<Cell> cells;
    for (const std::size_t index : stages) {
      const ValueSource place{.stage = index};
      const Estimate one = evaluate_formula(y, place, findings_);
      if (!std::isnan(one.value)) numbers.push_back(one);
      const Cell cell = formula_cell(y, place, findings_);
      if (!cell.is_absent()) cells.push_back(cell);
    }
    if (numbers.size() > 1) return mean_cell(numbers);
    if (cells.size() < 2) return cells.empty() ? Cell(absent) : cells.front();
    std::vector<std::string> texts;
    for (const Cell& cell : cells) texts.push_back(display_text(cell));
    return fmt::format("{}", fmt::join(texts, "; "));
  }

  // Lists the stages one by one, since stages that never get so close have no mean.
  Cell counts_cell(const PipelineColumn& column, const std::vector<std::size_t>& stages) const {
    PerRun counts{.values = {}, .of = Quantity::count};
    for (const std::size_t index : stages) {
      const auto study = findings_.studies.find(stage(index).name);
      if (study == findings_.studies.end()) continue;
      const double best = best_comparable(column, stage(index));
      const auto count = trials_until(study->second.shown.view, best, *column.within);
      counts.values.push_back(count ? static_cast<double>(*count)
                                    : std::numeric_limits<double>::infinity());
    }
    return counts.values.empty() ? Cell(absent) : Cell(counts);
  }

  // Returns whether two stages differ only in the variable of the rows.
  bool are_comparable(const PipelineStage& a, const PipelineStage& b) const {
    return described_.by == "stage" || std::ranges::all_of(a.setting, [&](const auto& one) {
             const std::string* other = variable_of(b, one.first);
             return one.first == described_.by || other == nullptr || *other == one.second;
           });
  }

  // Returns the best value of the stages in the column that are compared with this one.
  double best_comparable(const PipelineColumn& column, const PipelineStage& one_of_them) const {
    double least = std::numeric_limits<double>::infinity();
    Direction direction = Direction::maximize;
    for (const std::size_t index : column.stages) {
      if (!are_comparable(stage(index), one_of_them)) continue;
      const auto study = findings_.studies.find(stage(index).name);
      if (study == findings_.studies.end()) continue;
      direction = study->second.study.directions.front();
      if (const std::vector<TrialAndBest> way = trials_with_best(study->second.shown.view);
          !way.empty() && way.back().best != nullptr)
        least = std::min(least, loss_of(way.back().best->values.front(), direction));
    }
    return loss_of(least, direction);
  }

  const PipelineTable& described_;
  const PipelineFindings& findings_;
  std::vector<std::string> rows_;
  std::map<std::pair<std::string, std::size_t>, std::vector<std::size_t>> cells_;
};

// Names a search dimension after the column of its chosen value: "hidden_size" is "Hidden size" if a column with that
// label shows "best.configuration.architecture.hidden_size".
std::string dimension_text(const std::string& name, const Pipeline& pipeline) {
  constexpr std::string_view kChosen = "best.configuration.";
  for (const PipelineTable& table : pipeline.tables)
    for (const PipelineColumn& column : table.columns)
      if (column.y.path.starts_with(kChosen) && column.y.path.ends_with("." + name))
        return column.label;
  return name;
}

Cell with_spaces(const Cell& cell, const Pipeline& pipeline) {
  const auto* text = std::get_if<std::string>(&cell.value());
  return text == nullptr ? cell : Cell(dimension_text(*text, pipeline));
}

// Builds a table with a row for each member of a list or an object.
Table table_of_rows(const PipelineTable& described, const PipelineFindings& findings) {
  const std::vector<std::size_t>& stages = described.columns.front().stages;
  std::vector<Column> columns;
  if (stages.size() > 1) columns.emplace_back("stage", "Stage");
  bool named = false;
  for (const std::size_t index : stages)
    named = named || value_at_path(findings.outcomes[index].result, described.rows).is_object();
  if (named) columns.emplace_back("name", "Name");
  for (const PipelineColumn& column : described.columns)
    columns.emplace_back(column.key, column.label);
  Table table(columns);
  for (const std::size_t index : stages) {
    for (const ValueSource& row : rows_at(index, described.rows, findings)) {
      std::vector<Cell> line;
      if (stages.size() > 1) line.emplace_back(findings.pipeline.stages[index].name);
      if (named) line.emplace_back(row.name);
      for (const PipelineColumn& column : described.columns)
        line.push_back(with_spaces(formula_cell(column.y, row, findings), findings.pipeline));
      table.add_row(line);
    }
  }
  return table;
}

}  // namespace

Table pipeline_table(const PipelineTable& described, const PipelineFindings& findings) {
  return described.rows.empty() ? TableMaker(described, findings).made()
                                : table_of_rows(described, findings);
}

}  // namespace hone
