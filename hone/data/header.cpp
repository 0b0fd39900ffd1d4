#include "hone/data/header.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "hone/base/error.h"
#include "hone/base/printable.h"
#include "hone/base/text.h"
#include "hone/data/raw_labels.h"

namespace hone {
namespace {

constexpr std::size_t kLongestHeading = 100;  // characters
constexpr std::size_t kWordsOfText = 4;       // in a table's only column

bool contains(const RowFields& fields, const std::string& value) {
  return std::ranges::find(fields, value) != fields.end();
}

std::optional<std::size_t> column_number(const std::string& name) {
  std::size_t number = 0;
  const char* end = name.data() + name.size();
  const auto [last, error] = std::from_chars(name.data(), end, number);
  if (error != std::errc() || last != end || std::to_string(number) != name) return std::nullopt;
  return number;
}

// Returns the given names of columns.
RowFields names_in(const NamedColumns& columns) {
  RowFields names = {columns.text, columns.text_pair};
  for (const std::string& label : split(columns.label, ',')) names.emplace_back(trim(label));
  std::erase(names, "");
  return names;
}

RowFields names_in(const DataOptions& options) {
  RowFields names = names_in(NamedColumns{.text = options.text_column,
                                          .text_pair = options.text_pair_column,
                                          .label = options.label_column});
  if (!options.id_column.empty()) names.push_back(options.id_column);
  return names;
}

// Returns whether the header is 0, 1, 2, …, which pandas writes for unnamed columns.
bool is_numbered(const RowFields& first) {
  for (std::size_t i = 0; i < first.size(); ++i)
    if (first[i] != std::to_string(i)) return false;
  return true;
}

// Returns the non-empty fields of a column below the first row.
RowFields column_of(std::span<const RowFields> rows, std::size_t column) {
  RowFields values;
  for (const RowFields& row : rows)
    if (column < row.size() && !row[column].empty()) values.push_back(row[column]);
  return values;
}

// Returns whether another row has the same field in the column. A row equal in all columns does not count: concatenated
// files repeat the header.
bool is_repeated(const RowFields& first, std::size_t column, std::span<const RowFields> rows) {
  return std::ranges::any_of(rows, [&](const RowFields& row) {
    return column < row.size() && row[column] == first[column] &&
           (first.size() == 1 || row != first);
  });
}

bool are_numbers(const RowFields& values) {
  return std::ranges::all_of(
      values, [](const std::string& value) { return parse_decimal(value).has_value(); });
}

// Returns whether the first row contains given names, or usual names that are not values of their columns.
bool has_known_names(const RowFields& first, std::span<const RowFields> rows,
                     const DataOptions& options) {
  RowFields given = names_in(options), remembered = names_in(options.remembered);
  given.insert(given.end(), remembered.begin(), remembered.end());
  std::size_t usual = 0, repeated = 0;
  for (std::size_t i = 0; i < first.size(); ++i) {
    if (contains(given, first[i]) && !column_number(first[i])) return true;
    if (!is_usual_column(first[i])) continue;
    ++usual;
    repeated += is_repeated(first, i, rows) ? 1 : 0;
  }
  return usual > repeated || usual > 1;
}

// Returns whether the options name columns by numbers.
bool asks_for_numbers(const RowFields& first, const DataOptions& options) {
  const RowFields given = names_in(options);
  return std::ranges::any_of(given, [&](const std::string& name) {
    const std::optional<std::size_t> number = column_number(name);
    return number && *number < first.size() && !contains(first, name);
  });
}

std::size_t words_in(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count(trim(text), ' ')) + 1;
}

// Returns why the first row is not a header; "" if it may be one.
std::string why_data(const RowFields& first, std::span<const RowFields> rows) {
  for (std::size_t i = 0; i < first.size(); ++i) {
    const std::string& field = first[i];
    if (trim(field).empty()) continue;
    const RowFields below = column_of(rows, i);
    const std::string shown = shorten(field, 40);
    if (parse_decimal(field) && are_numbers(below))
      return fmt::format("'{}' is a number, as below it", shown);
    if (is_repeated(first, i, rows)) return fmt::format("'{}' is also a value below it", shown);
    if (field.size() > kLongestHeading || (first.size() == 1 && words_in(field) >= kWordsOfText))
      return fmt::format("'{}' is a text", shown);
  }
  return "";
}

bool is_header(const RowFields& first, std::span<const RowFields> rows, const DataOptions& options,
               std::vector<std::string>& notes) {
  if (options.form.no_header) return false;
  if (has_known_names(first, rows, options) || is_numbered(first)) return true;
  if (asks_for_numbers(first, options)) return false;
  const bool remembered = options.remembered.form.no_header;
  const std::string why = why_data(first, rows);
  if (why.empty() && !remembered) {
    notes.push_back(
        fmt::format("the first row is read as the names of the columns: {}; `no_header` reads it "
                    "as data",
                    shorten(fmt::format("{}", fmt::join(first, ", ")), 80)));
    return true;
  }
  notes.push_back(fmt::format(
      "the first row is read as data, not as names of columns, {}; the columns are called 0 to {}",
      remembered ? "as when the model was trained" : "for " + why, first.size() - 1));
  if (!remembered) notes.back() += ", unless `text_column` names one as the first row does";
  return false;
}

}  // namespace

RowColumns name_columns(const RowFields& first, std::span<const RowFields> rows,
                        const DataOptions& options) {
  RowColumns table;
  table.header = is_header(first, rows, options, table.notes);
  const bool numbered = !table.header || is_numbered(first);
  std::vector<ColumnPreview> values(first.size());
  const auto add = [&](const RowFields& row) {
    for (std::size_t i = 0; i < std::min(row.size(), values.size()); ++i)
      values[i].add(row[i], !parse_decimal(row[i]));
  };
  if (!table.header) add(first);
  for (const RowFields& row : rows) add(row);
  for (std::size_t i = 0; i < first.size(); ++i) {
    DataColumn column{.name = numbered ? std::to_string(i) : first[i], .named = !numbered};
    if (!table.header || !rows.empty()) values[i].describe(column);
    if (numbered && !(table.header && rows.empty())) {
      const RowFields& shown = table.header ? rows[0] : first;
      if (i < shown.size()) column.first_value = shown[i];
    }
    if (!numbered && trim(first[i]).empty())
      column = {.name = fmt::format("Unnamed: {}", i), .is_text = false, .named = false};
    table.columns.push_back(std::move(column));
  }
  return table;
}

}  // namespace hone
