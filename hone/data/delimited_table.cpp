#include <charconv>
#include <memory>

#include "hone/base/error.h"
#include "hone/base/json.h"
#include "hone/data/csv.h"
#include "hone/data/data_table.h"

namespace hone {
namespace {

bool is_number(std::string_view text) {
  if (text.starts_with('+') && !text.substr(1).starts_with('-')) text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return !text.empty() && end == text.data() + text.size() && error != std::errc::invalid_argument;
}

// What stands between the columns of the header when it is not what the name of the file says.
char separator_of(std::string_view text, char usual) {
  const std::string_view header = text.substr(0, text.find('\n'));
  if (header.find(usual) != std::string_view::npos) return usual;
  for (const char other : {';', '\t', ','})
    if (header.find(other) != std::string_view::npos) return other;
  return usual;
}

void check_fields(const CsvReader& reader, std::size_t columns, std::size_t fields) {
  user_check(fields == columns, "line {}: expected {} fields as in the header, got {}",
             reader.line(), columns, fields);
}

// A column that holds numbers wherever the first records hold anything is no text.
void mark_numbers(CsvReader reader, std::vector<DataColumn>& columns) {
  constexpr int kRecordsToSee = 100;
  std::vector<char> words(columns.size(), 0);
  std::vector<std::string> fields;
  bool any = false;
  for (int i = 0; i < kRecordsToSee && reader.next(fields); ++i) {
    check_fields(reader, columns.size(), fields.size());
    any = true;
    for (std::size_t k = 0; k < fields.size(); ++k)
      if (!fields[k].empty() && !is_number(fields[k])) words[k] = 1;
  }
  for (std::size_t k = 0; any && k < columns.size(); ++k) columns[k].words = words[k] != 0;
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
  std::vector<std::string> fields;
  while (reader.next(fields)) {
    check_fields(reader, columns.size(), fields.size());
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
    if (labels.size() == 1) record.answer.value = std::move(fields[labels[0]]);
    record.answer.many = labels.size() > 1;
    if (record.answer.many)
      for (const std::size_t label : labels)
        record.answer.values.push_back(std::move(fields[label]));
  }
  return records;
}

}  // namespace

DataTable open_delimited(std::string_view text, char separator) {
  const char found = separator_of(text, separator);
  CsvReader reader(text, found);
  std::vector<std::string> header;
  user_check(reader.next(header),
             "the file is empty; expected a header line with the names of the columns");
  DataTable table{.unit = "line"};
  for (std::string& name : header) table.columns.push_back({std::move(name)});
  mark_numbers(reader, table.columns);
  if (found != separator)
    table.notes.push_back(fmt::format("the columns are taken to be separated by {}",
                                      found == '\t' ? "tabs" : fmt::format("'{}'", found)));
  // The reader stands behind the header now; each reading goes on from a copy of it.
  table.read = [reader, columns = table.columns](const ColumnChoice& choice, ThreadPool&) {
    return read_rows(reader, columns, choice);
  };
  table.class_names = [](const std::string&) { return std::vector<std::string>{}; };
  return table;
}

}  // namespace hone
