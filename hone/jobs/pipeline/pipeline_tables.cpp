#include "hone/jobs/pipeline/pipeline_tables.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "hone/base/text.h"
#include "hone/jobs/pipeline/pipeline_values.h"
#include "hone/jobs/search/best_history.h"

namespace hone {
namespace {

constexpr std::string_view kTally = "tally.", kAny = ".*.";

std::string number_text(double value) {
  const bool whole = value == std::floor(value) && std::abs(value) < 1e15;
  return whole ? grouped(static_cast<std::int64_t>(value)) : fmt::format("{:.4g}", value);
}

// "81.2 % (79.0 to 83.2)": a number with an interval is a share.
std::string measured_text(const Measured& measured) {
  if (measured.low < measured.high && measured.low >= -1 && measured.high <= 1)
    return fmt::format("{:.1f} % ({:.1f} to {:.1f})", 100 * measured.value, 100 * measured.low,
                       100 * measured.high);
  return number_text(measured.value);
}

// "9 integer, 3 log": of the texts at "best.configuration.formats.*.weight", up to their parentheses, the most frequent first.
std::string tally_text(const Json& result, const std::string& path) {
  const std::size_t any = path.find(kAny);
  const Json& members = value_at_path(result, path.substr(0, any));
  if (any == std::string::npos || !members.is_structured()) return "";
  std::map<std::string, std::int64_t> counts;
  for (const Json& member : members) {
    const Json& text = value_at_path(member, path.substr(any + kAny.size()));
    if (!text.is_string()) continue;
    const auto whole = text.get<std::string>();
    ++counts[whole.substr(0, whole.find('('))];
  }
  std::vector<std::pair<std::string, std::int64_t>> order(counts.begin(), counts.end());
  std::ranges::stable_sort(order, std::greater(), &std::pair<std::string, std::int64_t>::second);
  std::vector<std::string> parts;
  for (const auto& [name, count] : order) parts.push_back(fmt::format("{} {}", count, name));
  return parts.empty() ? "none" : fmt::format("{}", fmt::join(parts, ", "));
}

std::string text_at_path(const Json& result, const std::string& path) {
  if (path.starts_with(kTally)) return tally_text(result, path.substr(kTally.size()));
  const Json& value = value_at_path(result, path);
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  return value.is_string() ? value.get<std::string>() : "";
}

/// Makes one table with `by`.
class TableMaker {
 public:
  TableMaker(const PipelineTable& told, const PipelineFindings& findings)
      : told_(told), findings_(findings) {}

  Table made() {
    std::vector<Column> columns = {{told_.by, told_.by == "stage" ? "Stage" : told_.by, false}};
    for (std::size_t c = 0; c < told_.columns.size(); ++c) {
      columns.push_back({fmt::format("column_{}", c + 1), told_.columns[c].label});
      for (const std::size_t index : told_.columns[c].stages) put(index, c);
    }
    const auto is_text = [](const std::string& row) { return std::isnan(number_in_text(row)); };
    if (std::ranges::none_of(rows_, is_text)) std::ranges::stable_sort(rows_, {}, number_in_text);
    Table table(columns);
    for (const std::string& row : rows_) {
      std::vector<Cell> line = {row};
      for (std::size_t c = 0; c < told_.columns.size(); ++c) {
        const std::string text = told_.columns[c].within
                                     ? counts_text(told_.columns[c], cells_[{row, c}])
                                     : cell_text(told_.columns[c].y, cells_[{row, c}]);
        line.push_back(text.empty() ? Cell(absent) : Cell(text));
      }
      table.add_row(line);
    }
    return table;
  }

 private:
  const PipelineStage& stage(std::size_t index) const { return findings_.pipeline.stages[index]; }

  void put(std::size_t index, std::size_t column) {
    const std::string* const value =
        told_.by == "stage" ? &stage(index).name : variable_of(stage(index), told_.by);
    HONE_ASSERT(value != nullptr, "stage {} has no {}", stage(index).name, told_.by);
    if (std::ranges::find(rows_, *value) == rows_.end()) rows_.push_back(*value);
    cells_[{*value, column}].push_back(index);
  }

  std::string cell_text(const std::string& y, const std::vector<std::size_t>& stages) const {
    std::vector<Measured> numbers;
    std::vector<std::string> texts;
    for (const std::size_t index : stages) {
      const StageOutcome& outcome = findings_.outcomes[index];
      const Measured one = measured_of(outcome.result, findings_.folder / outcome.stands_for, y);
      if (!std::isnan(one.value)) numbers.push_back(one);
      if (const std::string text = text_at_path(outcome.result, y); !text.empty())
        texts.push_back(text);
    }
    if (numbers.empty()) return fmt::format("{}", fmt::join(texts, "; "));
    return numbers.size() == 1 ? measured_text(numbers.front()) : spread_text(numbers);
  }

  // "81.2 % (80.1 to 82.0, 3 runs)"
  static std::string spread_text(const std::vector<Measured>& numbers) {
    Measured all{.value = 0, .low = numbers[0].value, .high = numbers[0].value};
    bool shares = true;
    for (const Measured& one : numbers) {
      all.value += one.value / static_cast<double>(numbers.size());
      all.low = std::min(all.low, one.value);
      all.high = std::max(all.high, one.value);
      shares = shares && one.low < one.high && one.low >= -1 && one.high <= 1;
    }
    if (shares)
      return fmt::format("{:.1f} % ({:.1f} to {:.1f}, {} runs)", 100 * all.value, 100 * all.low,
                         100 * all.high, numbers.size());
    return fmt::format("{} ({} to {}, {} runs)", number_text(all.value), number_text(all.low),
                       number_text(all.high), numbers.size());
  }

  // "3, 7, never in 12": the stages one by one, as of those that never came so near there is no mean.
  std::string counts_text(const PipelineColumn& column,
                          const std::vector<std::size_t>& stages) const {
    std::vector<std::string> texts;
    for (const std::size_t index : stages) {
      const auto study = findings_.studies.find(stage(index).name);
      if (study == findings_.studies.end()) continue;
      const double best = best_beside(column, stage(index));
      const auto count = trials_until(study->second.shown.view, best, *column.within);
      texts.push_back(
          count ? grouped(*count)
                : fmt::format("never in {}", trials_on_the_way(study->second.shown.view).size()));
    }
    return fmt::format("{}", fmt::join(texts, ", "));
  }

  // Whether two stages differ in nothing but what makes the row.
  bool are_beside(const PipelineStage& a, const PipelineStage& b) const {
    return told_.by == "stage" || std::ranges::all_of(a.setting, [&](const auto& one) {
             const std::string* other = variable_of(b, one.first);
             return one.first == told_.by || other == nullptr || *other == one.second;
           });
  }

  // Of the stages of the column that are to be compared with this one.
  double best_beside(const PipelineColumn& column, const PipelineStage& one_of_them) const {
    double least = std::numeric_limits<double>::infinity();
    Direction direction = Direction::maximize;
    for (const std::size_t index : column.stages) {
      if (!are_beside(stage(index), one_of_them)) continue;
      const auto study = findings_.studies.find(stage(index).name);
      if (study == findings_.studies.end()) continue;
      direction = study->second.study.directions.front();
      if (const std::vector<TrialOnTheWay> way = trials_on_the_way(study->second.shown.view);
          !way.empty() && way.back().best != nullptr)
        least = std::min(least, loss_of(way.back().best->values.front(), direction));
    }
    return loss_of(least, direction);
  }

  const PipelineTable& told_;
  const PipelineFindings& findings_;
  std::vector<std::string> rows_;
  std::map<std::pair<std::string, std::size_t>, std::vector<std::size_t>> cells_;
};

// A row for each member of a list or an object.
Table table_of_rows(const PipelineTable& told, const PipelineFindings& findings) {
  const std::vector<std::size_t>& stages = told.columns.front().stages;
  std::vector<Column> columns;
  if (stages.size() > 1) columns.emplace_back("stage", "Stage", false);
  bool named = false;
  for (const std::size_t index : stages)
    named = named || value_at_path(findings.outcomes[index].result, told.rows).is_object();
  if (named) columns.emplace_back("name", "Name", false);
  for (std::size_t c = 0; c < told.columns.size(); ++c)
    columns.emplace_back(fmt::format("column_{}", c + 1), told.columns[c].label);
  Table table(columns);
  for (const std::size_t index : stages) {
    const Json& rows = value_at_path(findings.outcomes[index].result, told.rows);
    for (const auto& [name, row] : rows.items()) {
      std::vector<Cell> line;
      if (stages.size() > 1) line.emplace_back(findings.pipeline.stages[index].name);
      if (named) line.emplace_back(name);
      for (const PipelineColumn& column : told.columns) {
        const Measured number = measured_of(row, {}, column.y);
        const std::string text =
            std::isnan(number.value) ? text_at_path(row, column.y) : measured_text(number);
        line.push_back(text.empty() ? Cell(absent) : Cell(text));
      }
      table.add_row(line);
    }
  }
  return table;
}

}  // namespace

Table pipeline_table(const PipelineTable& told, const PipelineFindings& findings) {
  return told.rows.empty() ? TableMaker(told, findings).made() : table_of_rows(told, findings);
}

}  // namespace hone
