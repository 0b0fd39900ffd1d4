#include "hone/report/table.h"

#include <utf8proc.h>

#include <algorithm>
#include <cmath>

#include "hone/base/error.h"
#include "hone/base/text.h"
#include "hone/report/one_line.h"

namespace hone {
namespace {

constexpr std::string_view kAbsent = "–";

template <typename... Cases>
struct Match : Cases... {
  using Cases::operator()...;
};
template <typename... Cases>
Match(Cases...) -> Match<Cases...>;

// Columns of a terminal that the text takes: wide characters two, combining ones none.
std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  const auto* next = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  auto left = static_cast<utf8proc_ssize_t>(text.size());
  while (left > 0) {
    utf8proc_int32_t character = 0;
    const utf8proc_ssize_t length = utf8proc_iterate(next, left, &character);
    width += length > 0 ? static_cast<std::size_t>(utf8proc_charwidth(character))
                        : 1;  // a broken byte shows as one
    next += std::max<utf8proc_ssize_t>(length, 1);
    left -= std::max<utf8proc_ssize_t>(length, 1);
  }
  return width;
}

// `digits` decimals, or one significant digit where they would show a number that is not zero as
// zero.
std::string rounded(double value, int digits) {
  if (std::isinf(value)) return value > 0 ? "∞" : "-∞";
  const bool vanishes = value != 0 && std::abs(value) < 0.5 * std::pow(10.0, -digits);
  if (vanishes) return fmt::format("{:.1g}", value);
  return fmt::format("{:.{}f}", value, digits);
}

std::string display_real(double value, int digits, std::string_view unit) {
  if (std::isnan(value)) return std::string(kAbsent);
  return rounded(value, digits).append(unit);
}

// The cell for programs.
Json raw_value(const Cell& cell) {
  return std::visit(
      Match{[](Absent) { return Json(); }, [](const std::string& text) { return Json(text); },
            [](std::int64_t value) { return Json(value); },
            [](Real cell) { return Json(cell.value); },
            [](Percent cell) { return Json(cell.share); },
            [](Bytes cell) { return Json(cell.count); }},
      cell.value());
}

std::string csv_field(const Json& value) {
  if (value.is_null()) return "";
  if (value.is_number_float()) return fmt::format("{}", value.get<double>());
  if (!value.is_string()) return value.dump();
  std::string text = value.get<std::string>();
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

std::string display_text(const Cell& cell) {
  return std::visit(
      Match{[](Absent) { return std::string(kAbsent); },
            [](const std::string& text) { return one_line(text); },
            [](std::int64_t value) { return grouped(value); },
            [](Real cell) { return display_real(cell.value, cell.digits, ""); },
            [](Percent cell) { return display_real(100 * cell.share, cell.digits, " %"); },
            [](Bytes cell) { return human_bytes(static_cast<double>(cell.count)); }},
      cell.value());
}

namespace {

struct TextColumn {
  bool to_the_left = false;
  std::size_t width = 0;
  std::vector<std::string> lines;  // the header, then the cells
};

TextColumn text_column(const Table& table, std::size_t index) {
  TextColumn column{.lines = {one_line(table.columns()[index].header)}};
  for (const std::vector<Cell>& row : table.rows()) {
    column.lines.push_back(display_text(row[index]));
    column.to_the_left |= row[index].is_text();
  }
  for (const std::string& line : column.lines)
    column.width = std::max(column.width, display_width(line));
  return column;
}

std::string padded(const std::string& text, const TextColumn& column) {
  const std::string space(column.width - display_width(text), ' ');
  return column.to_the_left ? text + space : space + text;
}

std::string rule(std::size_t width) {
  std::string text;
  for (std::size_t i = 0; i < width; ++i) text += "─";
  return text;
}

// Joins the pieces of a line, without the spaces that pad the last one.
std::string joined(const std::vector<std::string>& pieces) {
  std::string line;
  for (const std::string& piece : pieces) line += line.empty() ? piece : "  " + piece;
  return line.erase(line.find_last_not_of(' ') + 1) + "\n";
}

}  // namespace

std::string to_text(const Table& table) {
  std::vector<TextColumn> columns;
  for (std::size_t i = 0; i < table.columns().size(); ++i) columns.push_back(text_column(table, i));
  std::string text;
  for (std::size_t line = 0; line <= table.rows().size(); ++line) {
    std::vector<std::string> pieces, rules;
    for (const TextColumn& column : columns) {
      pieces.push_back(padded(column.lines[line], column));
      rules.push_back(rule(column.width));
    }
    text += joined(pieces);
    if (line == 0) text += joined(rules);
  }
  return text;
}

std::string to_csv(const Table& table) {
  std::string text;
  const auto add = [&](const auto& items, auto field) {
    for (std::size_t i = 0; i < items.size(); ++i) text += (i == 0 ? "" : ",") + field(items[i]);
    text += "\r\n";
  };
  add(table.columns(), [](const Column& column) { return csv_field(column.key); });
  for (const std::vector<Cell>& row : table.rows()) {
    add(row, [](const Cell& cell) { return csv_field(raw_value(cell)); });
  }
  return text;
}

Json to_json(const Table& table) {
  Json result = Json::array();
  for (const std::vector<Cell>& row : table.rows()) {
    Json object = Json::object();
    for (std::size_t i = 0; i < row.size(); ++i) {
      Json value = raw_value(row[i]);
      // JSON has no word for these; said here, it is not left to whoever prints.
      if (value.is_number_float() && !std::isfinite(value.get<double>())) value = nullptr;
      object[table.columns()[i].key] = std::move(value);
    }
    result.push_back(std::move(object));
  }
  return result;
}

void write_table(const Table& table, const fs::path& stem) {
  write_file(fs::path(stem) += ".csv", to_csv(table));
  write_file(fs::path(stem) += ".json", to_document(to_json(table)));
}

}  // namespace hone
