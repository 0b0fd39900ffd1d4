#include "hone/report/table.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "hone/base/error.h"
#include "hone/base/printable.h"
#include "hone/base/text.h"

namespace hone {
namespace {

constexpr std::size_t kMaxCharacters = 500;  // of a text: names may come from untrusted files
constexpr std::string_view kAbsent = "–";

template <typename... Cases>
struct Match : Cases... {
  using Cases::operator()...;
};
template <typename... Cases>
Match(Cases...) -> Match<Cases...>;

std::string display_real(double value, int digits, std::string_view unit) {
  if (std::isnan(value)) return std::string(kAbsent);
  return rounded_text(value, digits).append(unit);
}

/// The format of a column: all its cells have what one of them needs.
struct ColumnForm {
  bool all_decimals = false;  ///< of numbers that may be whole
  double least_bytes = std::numeric_limits<double>::infinity(), most_bytes = 0;

  void add(const Cell& cell);
};

// Sizes have one unit if each is at least 0.10 in it.
std::string display_bytes(double bytes, const ColumnForm& form) {
  const std::size_t most = byte_unit(form.most_bytes);
  const double size = std::ldexp(1.0, 10 * static_cast<int>(most));
  const bool one_unit = form.least_bytes >= 0.1 * size;
  const std::size_t unit = one_unit ? most : byte_unit(bytes);
  const bool decimals = form.all_decimals || (one_unit && byte_unit(form.least_bytes) != most);
  return bytes_in_unit(bytes, unit, unit > 0 && decimals);
}

bool shows_whole(double value) { return std::isnan(value) || value == std::floor(value); }

// Returns the text without its unit.
std::string display_quantity(double value, Quantity of) {
  if (std::isnan(value)) return std::string(kAbsent);
  if (is_percentage(of)) return percent_number(value, decimals_of(of));
  if (of == Quantity::points) return points_text(value);
  if (of == Quantity::number) return three_digits(value);
  return std::isinf(value) ? "never" : grouped(std::llround(value));
}

std::string display_estimate(const Estimate& e) {
  if (std::isnan(e.value)) return std::string(kAbsent);
  const auto shown = [&](double value) { return display_quantity(value, e.of); };
  const std::string unit = is_percentage(e.of) ? "%" : "";
  const std::string runs = e.runs > 0 ? fmt::format(", {} runs", e.runs) : "";
  if (std::isnan(e.low)) return shown(e.value) + unit;
  return fmt::format("{}{} ({} to {}{})", shown(e.value), unit, shown(e.low), shown(e.high), runs);
}

std::string display_runs(const PerRun& runs) {
  std::vector<std::string> texts;
  for (const double value : runs.values) texts.push_back(display_quantity(value, runs.of));
  return fmt::format("{}{}", fmt::join(texts, ", "), is_percentage(runs.of) ? "%" : "");
}

std::string display_p(double p) {
  if (std::isnan(p)) return std::string(kAbsent);
  if (p < 1e-300) return "< 1e-300";
  return p < 5e-4 ? fmt::format("{:.1g}", p) : fmt::format("{:.3f}", p);
}

std::string display_tally(const Tally& tally) {
  std::vector<std::string> texts;
  for (const auto& [name, count] : tally.counts)
    texts.push_back(fmt::format("{} {}", grouped(count), shown_name(name)));
  return texts.empty() ? "none" : fmt::format("{}", fmt::join(texts, ", "));
}

void ColumnForm::add(const Cell& cell) {
  if (const auto* real = std::get_if<Real>(&cell.value()))
    all_decimals |= real->may_be_whole && !shows_whole(real->value);
  if (const auto* size = std::get_if<Bytes>(&cell.value())) {
    const auto bytes = static_cast<double>(size->count);
    all_decimals |= human_bytes(bytes).find('.') != std::string::npos;
    least_bytes = std::min(least_bytes, bytes);
    most_bytes = std::max(most_bytes, bytes);
  }
}

std::string display(const Cell& cell, const ColumnForm& form) {
  return std::visit(
      Match{[](Absent) { return std::string(kAbsent); },
            [](const std::string& text) { return shown_name(text, kMaxCharacters); },
            [](std::int64_t value) { return grouped(value); },
            [&](const Real& real) {
              const bool whole = real.may_be_whole && !form.all_decimals;
              return display_real(real.value, whole ? 0 : real.digits, "");
            },
            [](Significant cell) { return display_quantity(cell.value, Quantity::number); },
            [](Percent cell) { return display_real(100 * cell.share, cell.digits, "%"); },
            [&](Bytes cell) { return display_bytes(static_cast<double>(cell.count), form); },
            [](const Estimate& cell) { return display_estimate(cell); },
            [](const PerRun& cell) { return display_runs(cell); },
            [](const Tally& cell) { return display_tally(cell); },
            [](PValue cell) { return display_p(cell.value); },
            [](const Cell::List& values) { return fmt::format("[{}]", fmt::join(values, ", ")); }},
      cell.value());
}

// Returns the cell's value for JSON and CSV.
Json raw_value(const Cell& cell) {
  return std::visit(
      Match{[](Absent) { return Json(); }, [](const std::string& text) { return Json(text); },
            [](std::int64_t value) { return Json(value); },
            [](Percent cell) { return Json(cell.share); },
            [](Bytes cell) { return Json(cell.count); },
            [](const PerRun& cell) { return Json(cell.values); },
            [](const Tally& cell) {
              Json counts = Json::object();
              for (const auto& [name, count] : cell.counts) counts[name] = count;
              return counts;
            },
            [](const Cell::List& values) { return Json(values); },
            [](const auto& cell) { return Json(cell.value); }},
      cell.value());
}

/// A number of a cell for CSV, and the suffix of its column's key.
struct NamedNumber {
  std::string suffix;
  Json number;
};

// Returns all numbers of the cell, its value first.
std::vector<NamedNumber> csv_numbers(const Cell& cell) {
  if (const auto* estimate = std::get_if<Estimate>(&cell.value())) {
    const bool interval = !std::isnan(estimate->low);
    std::vector<NamedNumber> numbers = {{"", estimate->value},
                                        {"_low", interval ? Json(estimate->low) : Json()},
                                        {"_high", interval ? Json(estimate->high) : Json()}};
    if (estimate->n > 0) numbers.push_back({"_n", estimate->n});
    if (estimate->runs > 0) numbers.push_back({"_runs", estimate->runs});
    return numbers;
  }
  if (const auto* tally = std::get_if<Tally>(&cell.value())) {
    std::int64_t all = 0;
    for (const auto& [name, count] : tally->counts) all += count;
    std::vector<NamedNumber> numbers = {{"", all}};
    for (const auto& [name, count] : tally->counts) {
      numbers.push_back({"_" + name, count});
      std::ranges::replace(numbers.back().suffix, ' ', '_');
    }
    return numbers;
  }
  const auto* runs = std::get_if<PerRun>(&cell.value());
  if (runs == nullptr) return {{"", raw_value(cell)}};
  std::vector<NamedNumber> numbers = {{"", runs->mean()}};
  for (std::size_t i = 0; i < runs->values.size(); ++i)
    numbers.push_back({fmt::format("_{}", i + 1), runs->values[i]});
  return numbers;
}

bool has_estimates(const Table& table, std::size_t column) {
  return std::ranges::any_of(table.rows(), [&](const std::vector<Cell>& row) {
    return std::holds_alternative<Estimate>(row[column].value());
  });
}

std::string csv_field(const Json& value) {
  if (value.is_null()) return "";
  if (value.is_number_float()) return fmt::format("{}", value.get<double>());
  std::string text = value.is_string() ? value.get<std::string>() : value.dump();
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (char c : text) quoted.append(c == '"' ? 2 : 1, c);
  return quoted + "\"";
}

}  // namespace

Table::Table(std::vector<Column> columns) : columns_(std::move(columns)) {
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      HONE_ASSERT(columns_[i].key != columns_[j].key, "two columns have the key '{}'",
                  columns_[i].key);
    }
  }
}

void Table::add_row(std::vector<Cell> cells) {
  HONE_ASSERT(cells.size() == columns_.size(), "{} cells for {} columns", cells.size(),
              columns_.size());
  rows_.push_back(std::move(cells));
}

std::string sentence_text(const Estimate& e) {
  if (std::isnan(e.value)) return std::string(kAbsent);
  const auto shown = [&](double value) { return display_quantity(value, e.of); };
  return fmt::format("{}% (95% CI {} to {})", shown(e.value), shown(e.low), shown(e.high));
}

double PerRun::mean() const {
  return std::reduce(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

std::string display_text(const Cell& cell) {
  ColumnForm form;
  form.add(cell);
  return display(cell, form);
}

std::vector<std::string> display_column(const Table& table, std::size_t column) {
  ColumnForm form;
  for (const std::vector<Cell>& row : table.rows()) form.add(row[column]);
  std::vector<std::string> texts;
  for (const std::vector<Cell>& row : table.rows()) texts.push_back(display(row[column], form));
  return texts;
}

std::string to_csv(const Table& table) {
  std::vector<std::string> names;
  std::vector<std::vector<std::string>> rows(table.rows().size());
  for (std::size_t column = 0; column < table.columns().size(); ++column) {
    std::vector<std::vector<NamedNumber>> cells;
    std::vector<std::string> suffixes = {""};
    for (const std::vector<Cell>& row : table.rows()) {
      cells.push_back(csv_numbers(row[column]));
      for (const NamedNumber& one : cells.back())
        if (std::ranges::find(suffixes, one.suffix) == suffixes.end())
          suffixes.push_back(one.suffix);
    }
    for (const std::string& suffix : suffixes) {
      names.push_back(csv_field(table.columns()[column].key + suffix));
      for (std::size_t row = 0; row < rows.size(); ++row) {
        const auto number = std::ranges::find(cells[row], suffix, &NamedNumber::suffix);
        rows[row].push_back(number == cells[row].end() ? "" : csv_field(number->number));
      }
    }
  }
  std::string text = fmt::format("{}\r\n", fmt::join(names, ","));
  for (const std::vector<std::string>& row : rows)
    text += fmt::format("{}\r\n", fmt::join(row, ","));
  return text;
}

Json to_json(const Table& table) {
  Json result = Json::array();
  for (const std::vector<Cell>& row : table.rows()) {
    Json object = Json::object();
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string& key = table.columns()[i].key;
      Json value = raw_value(row[i]);
      // JSON has no infinity and no NaN: writes null explicitly instead of relying on the serializer.
      if (value.is_number_float() && !std::isfinite(value.get<double>())) value = nullptr;
      object[key] = std::move(value);
      if (!has_estimates(table, i)) continue;
      const auto* estimate = std::get_if<Estimate>(&row[i].value());
      const bool interval = estimate != nullptr && !std::isnan(estimate->low);
      object[key + "_interval"] = interval ? Json{estimate->low, estimate->high} : Json();
      if (estimate != nullptr && estimate->n > 0) object[key + "_n"] = estimate->n;
      if (estimate != nullptr && estimate->runs > 0) object[key + "_runs"] = estimate->runs;
    }
    result.push_back(std::move(object));
  }
  return result;
}

}  // namespace hone
