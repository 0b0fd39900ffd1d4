#include "hone/text/labelled_file.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>

#include "hone/base/error.h"
#include "hone/base/json.h"
#include "hone/base/text.h"
#include "hone/text/csv.h"

namespace hone {
namespace {

struct Record {
  std::string text, label;
  std::int64_t line;
};

std::size_t find_column(const std::vector<std::string>& columns, const std::string& name) {
  const auto found = std::find(columns.begin(), columns.end(), name);
  user_check(found != columns.end(), "no column '{}'{}; the columns are: {}", name,
             did_you_mean(name, columns), fmt::join(columns, ", "));
  return static_cast<std::size_t>(found - columns.begin());
}

std::vector<Record> read_delimited(std::string_view file, char separator,
                                   const DataOptions& options) {
  CsvReader reader(file, separator);
  std::vector<std::string> fields;
  user_check(reader.next(fields),
             "the file is empty; expected a header line with the names of the columns");
  const std::size_t columns = fields.size();
  const std::size_t text = find_column(fields, options.text_column);
  const std::optional<std::size_t> label =
      options.label_column.empty() ? std::nullopt
                                   : std::optional(find_column(fields, options.label_column));
  std::vector<Record> records;
  while (reader.next(fields)) {
    user_check(fields.size() == columns, "line {}: expected {} fields as in the header, got {}",
               reader.line(), columns, fields.size());
    records.push_back(
        {std::move(fields[text]), label ? std::move(fields[*label]) : "", reader.line()});
  }
  return records;
}

const Json& find_key(const Json& object, const std::string& name, std::int64_t line) {
  user_check(object.is_object(), "line {}: expected a JSON object, got {}", line,
             to_line(object).substr(0, 60));
  const auto found = object.find(name);
  if (found != object.end()) return *found;
  std::vector<std::string> keys;
  for (const auto& [key, value] : object.items()) keys.push_back(key);
  fail("line {}: no key '{}'{}; the keys are: {}", line, name, did_you_mean(name, keys),
       fmt::join(keys, ", "));
}

std::vector<Record> read_json_lines(std::string_view file, const DataOptions& options) {
  std::vector<Record> records;
  std::int64_t line = 0;
  if (file.starts_with("\xef\xbb\xbf")) file.remove_prefix(3);
  while (!file.empty()) {
    const std::string_view text = file.substr(0, file.find('\n'));
    file.remove_prefix(std::min(text.size() + 1, file.size()));
    ++line;
    if (trim(text).empty()) continue;
    const Json object = parse_json(text, fmt::format("line {}", line));
    const Json& content = find_key(object, options.text_column, line);
    user_check(content.is_string(), "line {}: '{}' is no string: {}", line, options.text_column,
               to_line(content).substr(0, 60));
    if (options.label_column.empty()) {
      records.push_back({content.get<std::string>(), "", line});
      continue;
    }
    const Json& label = find_key(object, options.label_column, line);
    user_check(label.is_string() || label.is_number_integer(),
               "line {}: '{}' is neither integer nor string: {}", line, options.label_column,
               to_line(label).substr(0, 60));
    records.push_back({content.get<std::string>(),
                       label.is_string() ? label.get<std::string>() : label.dump(), line});
  }
  return records;
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

constexpr std::int64_t kMostClasses = 1000;

// The classes of a file on its own. Integers that begin at 0 (or are all 1) are indices already;
// other integers are numbered by value, strings by name.
std::vector<std::string> find_label_names(const std::vector<Record>& records) {
  std::map<std::string, bool> names;
  std::map<std::int64_t, bool> integers;
  for (const Record& record : records) {
    names[record.label] = true;
    if (const auto value = parse_integer(record.label)) integers[*value] = true;
  }
  std::vector<std::string> result;
  if (integers.size() < names.size()) {
    for (const auto& [name, seen] : names) result.push_back(name);
  } else if (const std::int64_t last = integers.rbegin()->first;
             last < kMostClasses &&
             (integers.begin()->first == 0 || (integers.size() == 1 && last == 1))) {
    for (std::int64_t i = 0; i <= std::max<std::int64_t>(last, 1); ++i)
      result.push_back(std::to_string(i));
  } else {
    for (const auto& [value, seen] : integers) result.push_back(std::to_string(value));
  }
  user_check(result.size() <= static_cast<std::size_t>(kMostClasses),
             "the label column has {} different values; expected at most {} classes: is it the "
             "right column?",
             result.size(), kMostClasses);
  return result;
}

std::int32_t label_index(const Record& record, const std::vector<std::string>& names) {
  const auto found = std::find(names.begin(), names.end(), record.label);
  if (found != names.end()) return static_cast<std::int32_t>(found - names.begin());
  const auto value = parse_integer(record.label);
  user_check(value && *value >= 0 && *value < static_cast<std::int64_t>(names.size()),
             "line {}: unknown label '{}'; expected one of: {}", record.line, record.label,
             fmt::join(names, ", "));
  return static_cast<std::int32_t>(*value);
}

std::vector<Record> read_records(const fs::path& path, const DataOptions& options) {
  const MappedFile file(path);
  if (path.extension() == ".jsonl") return read_json_lines(file.text(), options);
  return read_delimited(file.text(), path.extension() == ".tsv" ? '\t' : ',', options);
}

}  // namespace

bool is_labelled_file(const fs::path& path) {
  return path.extension() == ".csv" || path.extension() == ".tsv" || path.extension() == ".jsonl";
}

DataSet read_labelled_file(const fs::path& path, const DataOptions& options) {
  return with_context(path.string(), [&] {
    std::vector<Record> records = read_records(path, options);
    user_check(!records.empty(), "the file holds no examples");
    DataSet data;
    const bool labelled = !options.label_column.empty();
    if (labelled)
      data.label_names =
          options.label_names.empty() ? find_label_names(records) : options.label_names;
    for (Record& record : records) {
      const std::int32_t label = labelled ? label_index(record, data.label_names) : 0;
      data.train.push_back({std::move(record.text), label});
    }
    data.description = fmt::format("{}: {} examples", path.string(), data.train.size());
    return data;
  });
}

}  // namespace hone
