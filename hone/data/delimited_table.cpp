#include <algorithm>

#include "hone/base/error.h"
#include "hone/base/json.h"
#include "hone/data/csv.h"
#include "hone/data/data_table.h"
#include "hone/data/header.h"
#include "hone/data/quoting.h"

namespace hone {
namespace {

// Returns the separator of the header, which may differ from the one the file name implies.
char separator_of(std::string_view text, char usual) {
  const std::string_view header = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(header.size() + 1, text.size()));
  const std::string_view second = text.substr(0, text.find('\n'));
  for (const char other : {usual, ';', '\t', ','}) {
    const std::ptrdiff_t count = std::ranges::count(header, other);
    if (count > 0 &&
        (other == usual || second.empty() || std::ranges::count(second, other) >= count))
      return other;
  }
  return usual;
}

// Returns whether a column of a table with a header lacks a name.
bool is_unnamed(const DataColumn& column) {
  return !column.named && column.name.starts_with("Unnamed");
}

// Drops empty fields after the last column, and adds missing ones of unnamed columns.
void fit_fields(std::int64_t line, const std::vector<DataColumn>& columns, RowFields& fields) {
  const std::size_t found = fields.size();
  while (fields.size() > columns.size() && fields.back().empty()) fields.pop_back();
  while (fields.size() < columns.size() && is_unnamed(columns[fields.size()]))
    fields.emplace_back();
  user_check(fields.size() == columns.size(),
             "line {}: expected {} fields as in the first row, got {}", line, columns.size(),
             found);
}

std::vector<RowFields> first_rows(CsvReader& reader) {
  std::vector<RowFields> rows;
  RowFields fields;
  while (rows.size() < kPreviewRows && reader.next(fields)) rows.push_back(fields);
  return rows;
}

std::vector<Record> read_rows(CsvReader reader, const std::vector<DataColumn>& columns,
                              const ColumnChoice& choice) {
  const std::size_t text = find_column(columns, choice.text);
  const bool pairs = !choice.text_pair.empty();
  const std::size_t pair = pairs ? find_column(columns, choice.text_pair) : 0;
  std::vector<std::size_t> labels;
  for (const std::string& name : choice.labels) labels.push_back(find_column(columns, name));
  const bool has_id = !choice.id.empty(), has_gold = !choice.gold.empty();
  const std::size_t id = has_id ? find_column(columns, choice.id) : 0;
  const std::size_t gold = has_gold ? find_column(columns, choice.gold) : 0;
  std::vector<std::size_t> golds;
  for (const std::string& name : choice.golds) golds.push_back(find_column(columns, name));
  std::vector<Record> records;
  records.reserve(reader.most_records());
  RowFields fields;
  while (reader.next(fields)) {
    fit_fields(reader.line(), columns, fields);
    Record& record = records.emplace_back();
    record.number = reader.line();
    if (has_id) record.id = fields[id];
    if (has_gold) record.gold = fields[gold];
    if (!golds.empty()) {
      Json values = Json::array();
      for (const std::size_t one : golds) values.push_back(fields[one]);
      record.gold = to_line(values);
    }
    record.text = std::move(fields[text]);
    if (pairs) record.text_pair = std::move(fields[pair]);
    if (labels.size() == 1) record.raw_label.value = std::move(fields[labels[0]]);
    record.raw_label.many = labels.size() > 1;
    if (record.raw_label.many)
      for (const std::size_t label : labels)
        record.raw_label.values.push_back(std::move(fields[label]));
  }
  return records;
}

}  // namespace

DataTable open_delimited(std::string_view text, char separator, const DataOptions& options) {
  const char found = separator_of(text, separator);
  const std::string& quoting = options.form.quoting;
  const Quoting quotes =
      find_quoting(text, found, quoting.empty() ? options.remembered.form.quoting : quoting);
  CsvReader reader(text, found, quotes.encloses), behind = reader;
  RowFields first;
  user_check(behind.next(first),
             "the file is empty; expected a header line with the names of the columns");
  CsvReader seen = behind;
  RowColumns named = name_columns(first, first_rows(seen), options);
  DataTable table{.unit = "line", .columns = std::move(named.columns)};
  table.has_header = named.header;
  if (found != separator)
    table.notes.push_back(fmt::format("the columns are taken to be separated by {}",
                                      found == '\t' ? "tabs" : fmt::format("'{}'", found)));
  if (!quotes.note.empty()) table.notes.push_back(quotes.note);
  table.notes.insert(table.notes.end(), named.notes.begin(), named.notes.end());
  // Each call reads from its own copy of the reader.
  table.read = [reader = named.header ? behind : reader, columns = table.columns](
                   const ColumnChoice& choice, ThreadPool&) {
    return read_rows(reader, columns, choice);
  };
  table.class_names = [](const std::string&) { return std::vector<std::string>{}; };
  return table;
}

}  // namespace hone
