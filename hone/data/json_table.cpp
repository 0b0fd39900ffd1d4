#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "hone/base/error.h"
#include "hone/base/json_part.h"
#include "hone/base/printable.h"
#include "hone/base/text.h"
#include "hone/data/data_table.h"
#include "hone/data/header.h"
#include "hone/data/json_layout.h"
#include "hone/text/utf8.h"

namespace hone {
namespace {

using LayoutKind = JsonLayout::Kind;

// A file with its layout. Cells are slices of its text.
struct JsonFile {
  JsonText text;
  JsonLayout layout;
  std::vector<DataColumn> columns = {};
  std::size_t first_row = 0;  // 1: the first row is a header

  std::size_t rows() const {
    if (layout.kind == LayoutKind::columns)
      return layout.columns.empty() ? 0 : layout.columns[0].size();
    return layout.rows.size() - first_row;
  }
  std::int64_t number(std::size_t row) const {
    if (layout.kind == LayoutKind::columns) return static_cast<std::int64_t>(row) + 1;
    return layout.rows[row + first_row].number;
  }
};

// Returns whether a cell is a string without escapes, as most are.
bool is_plain_string(std::string_view cell) {
  const auto is_plain = [](char c) { return c != '\\' && static_cast<unsigned char>(c) >= 0x20; };
  return cell.starts_with('"') && std::ranges::all_of(cell, is_plain) && is_utf8(cell);
}

// One row, of which only the wanted cells are read.
class Row {
 public:
  Row(const JsonFile& file, std::size_t row, const std::vector<std::string>& wanted)
      : file_(file), row_(row), wanted_(wanted), cells_(wanted.size()) {
    switch (file.layout.kind) {
      case LayoutKind::objects:
        read_object();
        return;
      case LayoutKind::arrays:
        read_array();
        return;
      case LayoutKind::texts:
        cells_.assign(cells_.size(), text());
        return;
      case LayoutKind::columns:
        for (std::size_t i = 0; i < wanted.size(); ++i)
          cells_[i] = file.layout.columns[find_column(file.columns, wanted[i])][row];
    }
  }

  // Slow for arrays, because it counts lines.
  std::string where() const {
    if (file_.layout.unit == "line") return fmt::format("line {}", file_.number(row_));
    if (file_.layout.kind == LayoutKind::columns) return fmt::format("row {}", row_ + 1);
    return fmt::format("row {}, line {}", file_.number(row_),
                       file_.text.place_of(text().data()).line);
  }

  // Returns "" if the cell does not exist.
  std::string_view cell(const std::string& name) const {
    const auto found = std::ranges::find(wanted_, name);
    return found == wanted_.end() ? "" : cells_[static_cast<std::size_t>(found - wanted_.begin())];
  }

  std::string_view required_cell(const std::string& name) const {
    if (const std::string_view found = cell(name); !found.empty()) return found;
    if (file_.layout.kind != LayoutKind::objects)
      fail("{}: there is no value for column '{}'", where(), name);
    std::vector<JsonMember> members;
    read_members(text(), file_.text, members);
    std::vector<std::string> keys;
    for (const auto& [key, value] : members) keys.push_back(string_of(key, file_.text));
    fail("{}: no key '{}'; the keys are: {}{}", where(), name, fmt::join(keys, ", "),
         did_you_mean(name, keys));
  }

  Json parse(std::string_view cell, std::int64_t& replaced) const {
    if (is_plain_string(cell)) return std::string(cell.substr(1, cell.size() - 2));
    const std::string own = is_utf8(cell) ? std::string(cell) : repair_utf8(cell, replaced);
    // Finding the place is slow, and most values are well-formed.
    try {
      return parse_json_part(own, {});
    } catch (const UserError&) {
      return parse_with_place(own, cell);
    }
  }

 private:
  std::string_view text() const { return file_.layout.rows[row_ + file_.first_row].text; }

  void read_object() {
    if (!text().starts_with('{'))
      fail("{}: expected a JSON object, got {}", where(), shorten(text(), 60));
    thread_local std::vector<JsonMember> members;
    read_members(text(), file_.text, members);
    for (const auto& [key, value] : members) {
      const bool plain = key.find('\\') == std::string_view::npos;
      for (std::size_t i = 0; i < wanted_.size(); ++i)
        if (plain ? key.substr(1, key.size() - 2) == wanted_[i]
                  : string_of(key, file_.text) == wanted_[i])
          cells_[i] = value;
    }
  }

  void read_array() {
    if (!text().starts_with('['))
      fail("{}: expected a JSON array, got {}", where(), shorten(text(), 60));
    const std::vector<std::string_view> elements = elements_of(text(), file_.text);
    for (std::size_t i = 0; i < wanted_.size(); ++i)
      if (const std::size_t at = find_column(file_.columns, wanted_[i]); at < elements.size())
        cells_[i] = elements[at];
  }

  Json parse_with_place(const std::string& own, std::string_view cell) const {
    try {
      return parse_json_part(own, file_.text.place_of(cell.data()));
    } catch (const UserError& error) {
      if (cell.find("NaN") == std::string_view::npos &&
          cell.find("Infinity") == std::string_view::npos)
        throw;
      fail("{}; NaN and Infinity, which Python writes, are not JSON: remove such rows",
           error.what());
    }
  }

  const JsonFile& file_;
  std::size_t row_;
  const std::vector<std::string>& wanted_;
  std::vector<std::string_view> cells_;  // per wanted column
};

std::string take_text(const Row& row, const std::string& name, std::int64_t& replaced) {
  const std::string_view cell = row.required_cell(name);
  Json value = row.parse(cell, replaced);
  if (!value.is_string())
    fail("{}: '{}' is not a string: {}", row.where(), name, shorten(to_line(value), 60));
  return std::move(value.get_ref<std::string&>());
}

bool is_whole(const Json& value) {
  return value.is_number_integer() ||
         (value.is_number_float() && std::trunc(value.get<double>()) == value.get<double>());
}

bool is_scalar(const Json& value) {
  return value.is_string() || value.is_number() || value.is_boolean();
}

std::string written_value(Json& value) {
  if (value.is_string()) return std::move(value.get_ref<std::string&>());
  return value.dump();
}

// `task`: the task of the label; nothing: any task.
[[noreturn]] void refuse_label(const Json& value, const std::string& name, const Row& row,
                               const std::optional<Task>& task) {
  const char* expected = "is neither a whole number nor a string";
  if (task == Task::regression) expected = "is neither a number nor a list of numbers";
  if (task == Task::multi_label) expected = "is not a list of names or numbers";
  const char* hint = "";
  if (value.is_null() && task == Task::multi_label)
    hint = "; write [] for no label, or leave the row out";
  else if (value.is_null())
    hint = "; leave rows without a label out";
  else if (value.is_array() && task == Task::single_label)
    hint =
        "; the task is single_label_classification, one class for each text, and lists are for "
        "multi_label_classification";
  else if (task == Task::single_label && value.is_number())
    hint = "; the task is single_label_classification: write names of classes as strings";
  fail("{}: '{}' {}: {}{}", row.where(), name, expected, shorten(to_line(value), 60), hint);
}

RawLabel take_label(const Row& row, const std::string& name, const std::optional<Task>& task,
                    std::int64_t& replaced) {
  Json value = row.parse(row.required_cell(name), replaced);
  const bool fraction = value.is_number_float() && !is_whole(value);
  const bool classes = task == Task::single_label;
  if (is_scalar(value) && !(classes && fraction))
    return {.value = written_value(value), .no_class = fraction};
  const bool list = value.is_array() &&
                    std::ranges::all_of(value, [](const Json& one) { return is_scalar(one); });
  if (!list || classes) refuse_label(value, name, row, task);
  RawLabel raw_label{.many = true};
  for (Json& one : value) raw_label.values.push_back(written_value(one));
  return raw_label;
}

RawLabel take_labels(const Row& row, const ColumnChoice& choice, std::int64_t& replaced) {
  if (choice.labels.size() == 1) return take_label(row, choice.labels[0], choice.task, replaced);
  RawLabel raw_label{.many = true};
  for (const std::string& name : choice.labels) {
    Json value = row.parse(row.required_cell(name), replaced);
    if (!is_scalar(value))
      fail("{}: '{}' is neither a number nor a string: {}", row.where(), name,
           shorten(to_line(value), 60));
    raw_label.values.push_back(written_value(value));
  }
  return raw_label;
}

// Reads a cell as text for display: any value, or none.
std::string written(const Row& row, const std::string& name, std::int64_t& replaced) {
  const std::string_view cell = row.cell(name);
  if (cell.empty() || cell == "null" || cell == "NaN") return "";
  if (std::string_view("\"[{").find(cell.front()) == std::string_view::npos)
    return std::string(cell);
  const Json value = row.parse(cell, replaced);
  return value.is_string() ? value.get<std::string>() : to_line(value);
}

std::vector<std::string> wanted_columns(const ColumnChoice& choice) {
  std::vector<std::string> names = choice.labels;
  names.insert(names.end(), choice.golds.begin(), choice.golds.end());
  names.insert(names.end(), {choice.text, choice.text_pair, choice.id, choice.gold});
  std::erase(names, "");
  return names;
}

Record read_record(const Row& row, std::int64_t number, const ColumnChoice& choice) {
  Record record{.number = number};
  record.id = written(row, choice.id, record.replaced_bytes);
  record.gold = written(row, choice.gold, record.replaced_bytes);
  if (!choice.golds.empty()) {
    Json values = Json::array();
    for (const std::string& name : choice.golds)
      values.push_back(written(row, name, record.replaced_bytes));
    record.gold = to_line(values);
  }
  record.text = take_text(row, choice.text, record.replaced_bytes);
  if (!choice.text_pair.empty())
    record.text_pair = take_text(row, choice.text_pair, record.replaced_bytes);
  if (!choice.labels.empty()) record.raw_label = take_labels(row, choice, record.replaced_bytes);
  return record;
}

std::vector<Record> read_all(const JsonFile& file, const ColumnChoice& choice, ThreadPool& pool) {
  constexpr std::int64_t kRecordsPerChunk = 256;
  const std::vector<std::string> wanted = wanted_columns(choice);
  std::vector<Record> records(file.rows());
  parallel_ranges(
      pool, std::ssize(records), kRecordsPerChunk, [&](std::int64_t begin, std::int64_t end) {
        for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i)
          records[i] = read_record(Row(file, i, wanted), file.number(i), choice);
      });
  return records;
}

bool is_missing(std::string_view cell) { return cell.empty() || cell == "null" || cell == "NaN"; }

bool has_no_values(const JsonFile& file, const std::string& column) {
  const std::vector<std::string> wanted = {column};
  for (std::size_t i = 0; i < file.rows(); ++i)
    if (!is_missing(Row(file, i, wanted).cell(column))) return false;
  return file.rows() > 0;
}

// Adds a cell to the preview, strings as text; ignores null and empty strings.
void add_value(std::string_view cell, ColumnPreview& values) {
  if (cell != "null" && cell != "\"\"") values.add(cell, cell.starts_with('"'));
}

// Returns the keys of the first rows.
std::vector<DataColumn> columns_of_objects(const JsonText& text, const std::vector<JsonRow>& rows) {
  std::vector<DataColumn> columns;
  std::vector<ColumnPreview> values;
  std::vector<JsonMember> members;
  for (const JsonRow& row : std::span(rows).first(std::min(rows.size(), kPreviewRows))) {
    if (!row.text.starts_with('{')) break;
    read_members(row.text, text, members);
    for (const auto& [key, value] : members) {
      const std::string name = string_of(key, text);
      const auto found = std::ranges::find(columns, name, &DataColumn::name);
      const auto at = static_cast<std::size_t>(found - columns.begin());
      if (found == columns.end()) {
        columns.push_back({name});
        values.emplace_back();
      }
      add_value(value, values[at]);
    }
  }
  for (std::size_t i = 0; i < columns.size(); ++i) values[i].describe(columns[i]);
  return columns;
}

std::vector<DataColumn> columns_of_lists(const JsonLayout& layout) {
  std::vector<DataColumn> columns;
  for (std::size_t i = 0; i < layout.names.size(); ++i) {
    columns.push_back({layout.names[i]});
    ColumnPreview values;
    const auto& cells = layout.columns[i];
    for (const std::string_view cell : std::span(cells).first(std::min(cells.size(), kPreviewRows)))
      add_value(cell, values);
    values.describe(columns.back());
  }
  return columns;
}

// Returns an array as the fields of a delimited row; nested values are empty.
RowFields fields_of(std::string_view row, const JsonText& text) {
  RowFields fields;
  if (!row.starts_with('[')) return fields;
  for (const std::string_view cell : elements_of(row, text)) {
    const bool shown = cell != "null" && !cell.starts_with('[') && !cell.starts_with('{');
    fields.push_back(cell.starts_with('"') ? string_of(cell, text)
                                           : std::string(shown ? cell : ""));
  }
  return fields;
}

// Names the columns of rows that are arrays.
void name_arrays(JsonFile& file, const DataOptions& options) {
  JsonLayout& layout = file.layout;
  const bool named = !layout.names.empty();
  std::vector<RowFields> rows;
  for (const JsonRow& row : layout.rows)
    if (rows.size() <= kPreviewRows) rows.push_back(fields_of(row.text, file.text));
  DataOptions known = options;
  if (named) {
    rows.insert(rows.begin(), layout.names);
    known.text_column = layout.names[0];
    known.form.no_header = false;
  }
  RowColumns table = name_columns(rows[0], std::span(rows).subspan(1), known);
  file.columns = std::move(table.columns);
  layout.notes.insert(layout.notes.end(), table.notes.begin(), table.notes.end());
  file.first_row = table.header && !named ? 1 : 0;
}

}  // namespace

DataTable open_json(std::string_view bytes, const DataOptions& options) {
  if (bytes.starts_with("\xef\xbb\xbf")) bytes.remove_prefix(3);
  const JsonText text(bytes);
  const auto file = std::make_shared<JsonFile>(JsonFile{text, find_layout(text, options)});
  JsonLayout& layout = file->layout;
  if (layout.kind == LayoutKind::objects) file->columns = columns_of_objects(text, layout.rows);
  if (layout.kind == LayoutKind::columns) file->columns = columns_of_lists(layout);
  if (layout.kind == LayoutKind::texts) file->columns = {{"text"}};
  if (layout.kind == LayoutKind::arrays) name_arrays(*file, options);
  DataTable table{.unit = layout.unit,
                  .columns = file->columns,
                  .has_header = layout.kind != LayoutKind::arrays || file->columns[0].named ||
                                file->first_row == 1,
                  .notes = layout.notes};
  table.read = [file](const ColumnChoice& choice, ThreadPool& pool) {
    return read_all(*file, choice, pool);
  };
  table.is_null = [file](const std::string& column) { return has_no_values(*file, column); };
  table.class_names = [](const std::string&) { return std::vector<std::string>{}; };
  return table;
}

}  // namespace hone
