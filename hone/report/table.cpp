#include "hone/report/table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "hone/base/error.h"
#include "hone/base/printable.h"
#include "hone/base/text.h"

namespace hone {
namespace {

constexpr std::size_t kMostCharacters = 500;  // of a text: names may come from anybody's files
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

// Of halves that read differently, how much of the longer the shorter is at least where one stands for both.
constexpr double kNearlyEven = 0.9;

// Whether one half of the interval says both.
bool has_even_halves(const Estimate& e) {
  if (std::isnan(e.value) || std::isnan(e.low)) return true;
  if (e.of == Quantity::flips || e.of == Quantity::number) return false;
  const double below = e.value - e.low, above = e.high - e.value, half = std::max(below, above);
  const bool alike = percent_number(below, e.digits()) == percent_number(above, e.digits());
  if (e.of == Quantity::points) return alike;
  return (alike || std::min(below, above) >= kNearlyEven * half) && e.value - half >= 0 &&
         e.value + half <= 1;
}

/// What all cells of a column have because one of them needs it.
struct ColumnForm {
  bool both_ends = false;     ///< of intervals
  bool all_decimals = false;  ///< of what may be whole
  double least_bytes = std::numeric_limits<double>::infinity(), most_bytes = 0;

  void add(const Cell& cell);
};

// Sizes are in one unit where each reads as 0.10 or more in it.
std::string display_bytes(double bytes, const ColumnForm& form) {
  const std::size_t most = byte_unit(form.most_bytes);
  const double size = std::ldexp(1.0, 10 * static_cast<int>(most));
  const bool one_unit = form.least_bytes >= 0.1 * size;
  const std::size_t unit = one_unit ? most : byte_unit(bytes);
  const bool decimals = form.all_decimals || (one_unit && byte_unit(form.least_bytes) != most);
  return bytes_in_unit(bytes, unit, unit > 0 && decimals);
}

bool is_whole(double value) { return std::isnan(value) || value == std::floor(value); }

std::string display_estimate(const Estimate& e, bool both_ends) {
  if (std::isnan(e.value)) return std::string(kAbsent);
  constexpr int kNumberDigits = 3;
  const auto shown = [&](double share) {
    if (e.of == Quantity::number) return rounded_text(share, kNumberDigits);
    return e.of == Quantity::points ? points_text(share) : percent_number(share, e.digits());
  };
  const bool has_unit = e.of == Quantity::share || e.of == Quantity::flips;
  const std::string unit = has_unit ? " %" : "";
  if (std::isnan(e.low)) return shown(e.value) + unit;
  if (both_ends)
    return fmt::format("{} ({} to {}){}", shown(e.value), shown(e.low), shown(e.high), unit);
  const double half = std::max(e.value - e.low, e.high - e.value);
  return fmt::format("{} ± {}{}", shown(e.value), percent_number(half, e.digits()), unit);
}

std::string display_p(double p) {
  if (std::isnan(p)) return std::string(kAbsent);
  if (p < 1e-300) return "< 1e-300";
  return p < 5e-4 ? fmt::format("{:.1g}", p) : fmt::format("{:.3f}", p);
}

void ColumnForm::add(const Cell& cell) {
  if (const auto* estimate = std::get_if<Estimate>(&cell.value()))
    both_ends |= !has_even_halves(*estimate);
  if (const auto* real = std::get_if<Real>(&cell.value()))
    all_decimals |= real->may_be_whole && !is_whole(real->value);
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
            [](const std::string& text) { return shown_name(text, kMostCharacters); },
            [](std::int64_t value) { return grouped(value); },
            [&](const Real& real) {
              const bool whole = real.may_be_whole && !form.all_decimals;
              return display_real(real.value, whole ? 0 : real.digits, "");
            },
            [](Percent cell) { return display_real(100 * cell.share, cell.digits, " %"); },
            [](const Shares& seeds) { return shares_text(seeds.shares, seeds.digits); },
            [&](Bytes cell) { return display_bytes(static_cast<double>(cell.count), form); },
            [&](const Estimate& cell) { return display_estimate(cell, form.both_ends); },
            [](PValue cell) { return display_p(cell.value); },
            [](const Cell::List& values) { return fmt::format("[{}]", fmt::join(values, ", ")); }},
      cell.value());
}

// The cell for programs.
Json raw_value(const Cell& cell) {
  return std::visit(
      Match{[](Absent) { return Json(); }, [](const std::string& text) { return Json(text); },
            [](std::int64_t value) { return Json(value); },
            [](Real cell) { return Json(cell.value); },
            [](Percent cell) { return Json(cell.share); },
            [](const Shares& seeds) { return Json(seeds.shares); },
            [](Bytes cell) { return Json(cell.count); },
            [](const Estimate& cell) { return Json(cell.value); },
            [](PValue cell) { return Json(cell.value); },
            [](const Cell::List& values) { return Json(values); }},
      cell.value());
}

// The ends of the cell's interval, nulls for a cell that has none.
std::array<Json, 2> raw_interval(const Cell& cell) {
  const auto* estimate = std::get_if<Estimate>(&cell.value());
  if (estimate == nullptr || std::isnan(estimate->low)) return {};
  return {estimate->low, estimate->high};
}

bool has_intervals(const Table& table, std::size_t column) {
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
  return fmt::format("{} % (95 %: {} to {})", percent_number(e.value, e.digits()),
                     percent_number(e.low, e.digits()), percent_number(e.high, e.digits()));
}

double Shares::mean() const {
  return std::reduce(shares.begin(), shares.end(), 0.0) / static_cast<double>(shares.size());
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

namespace {

/// What becomes of a column.
struct Lift {
  bool stays = true;
  std::string line;
};

// Whether all rows have the very same value, however few of its digits are shown.
bool is_one_value(const Table& table, std::size_t column) {
  const Cell& first = table.rows().front()[column];
  return std::ranges::all_of(table.rows(), [&](const std::vector<Cell>& row) {
    return raw_value(row[column]) == raw_value(first) &&
           raw_interval(row[column]) == raw_interval(first);
  });
}

// Of two columns with one header a line above the table would not say which it means.
bool has_own_header(const Table& table, std::size_t column) {
  return std::ranges::count(table.columns(), table.columns()[column].header, &Column::header) == 1;
}

// Two rows are there to be compared, above all where they are equal: of three or more a column of one number goes, unless
// no other figure tells them apart.
bool is_dispensable_number(const Table& table, std::size_t column) {
  const Cell& first = table.rows().front()[column];
  if (table.rows().size() < 3 || first.is_text() || first.is_absent() ||
      !has_own_header(table, column) || !is_one_value(table, column))
    return false;
  const auto has_figures = [&](std::size_t other) {
    return std::ranges::none_of(table.rows(),
                                [&](const std::vector<Cell>& row) { return row[other].is_text(); });
  };
  for (std::size_t other = 1; other < table.columns().size(); ++other)
    if (has_figures(other) && !is_one_value(table, other)) return true;
  return false;
}

Lift lift_of(const Table& table, std::size_t column) {
  const auto& rows = table.rows();
  if (column == 0 || rows.size() < 2 || !table.columns()[column].lifts) return {};
  const std::string header = shown_name(table.columns()[column].header, kMostCharacters);
  if (is_dispensable_number(table, column))
    return {.stays = false,
            .line = fmt::format("{}: {}", header, display_column(table, column).front())};
  const auto cell = [&](std::size_t row) -> const Cell& { return rows[row][column]; };
  const auto every = [&](std::size_t from, auto holds) {
    for (std::size_t row = from; row < rows.size(); ++row)
      if (!holds(cell(row))) return false;
    return true;
  };
  if (every(0, [](const Cell& one) { return one.is_absent(); }))
    return {.stays = false, .line = ""};
  const std::string last = display_text(cell(rows.size() - 1)), first = display_text(cell(0));
  const bool text = every(0, [](const Cell& one) { return one.is_text(); });
  const auto says_so = [&](const Cell& one) { return display_text(one) == last; };
  if (!text || last.empty() || !every(1, says_so)) return {};
  const std::string line = fmt::format("{}: {}", header, last);
  if (first == last) return {.stays = false, .line = line};
  if (rows.size() < 3) return {};
  return {.stays = false, .line = fmt::format("{}; first row: {}", line, first)};
}

}  // namespace

LiftedTable lift_constants(const Table& table) {
  std::vector<std::string> lines;
  std::vector<std::size_t> kept;
  std::vector<Column> columns;
  for (std::size_t i = 0; i < table.columns().size(); ++i) {
    const Lift lift = lift_of(table, i);
    if (!lift.line.empty()) lines.push_back(lift.line);
    if (!lift.stays) continue;
    kept.push_back(i);
    columns.push_back(table.columns()[i]);
  }
  LiftedTable result{std::move(lines), Table(std::move(columns))};
  for (const std::vector<Cell>& row : table.rows()) {
    std::vector<Cell> cells;
    for (const std::size_t i : kept) cells.push_back(row[i]);
    result.table.add_row(std::move(cells));
  }
  return result;
}

std::string to_csv(const Table& table) {
  std::vector<std::string> names;
  std::vector<std::vector<std::string>> rows(table.rows().size());
  for (std::size_t column = 0; column < table.columns().size(); ++column) {
    const std::string& key = table.columns()[column].key;
    const bool intervals = has_intervals(table, column);
    names.push_back(csv_field(key));
    if (intervals) names.insert(names.end(), {csv_field(key + "_low"), csv_field(key + "_high")});
    for (std::size_t row = 0; row < rows.size(); ++row) {
      const Cell& cell = table.rows()[row][column];
      rows[row].push_back(csv_field(raw_value(cell)));
      if (!intervals) continue;
      for (const Json& end : raw_interval(cell)) rows[row].push_back(csv_field(end));
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
      // JSON has no word for these; said here, it is not left to whoever prints.
      if (value.is_number_float() && !std::isfinite(value.get<double>())) value = nullptr;
      object[key] = std::move(value);
      if (!has_intervals(table, i)) continue;
      const auto [low, high] = raw_interval(row[i]);
      object[key + "_interval"] = low.is_null() ? Json() : Json{low, high};
    }
    result.push_back(std::move(object));
  }
  return result;
}

}  // namespace hone
