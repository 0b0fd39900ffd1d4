#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "hone/base/error.h"
#include "hone/base/json_part.h"
#include "hone/base/printable.h"
#include "hone/base/text.h"
#include "hone/data/data_table.h"
#include "hone/text/utf8.h"

namespace hone {
namespace {

// The text of one JSON object and where it begins.
struct Source {
  std::string_view text;
  TextPosition begin;
  std::int64_t row = 0;  // among the elements of an array, from 1; 0: it is a line

  std::string where() const {
    return row == 0 ? fmt::format("line {}", begin.line)
                    : fmt::format("row {}, line {}", row, begin.line);
  }
};

std::vector<Source> lines_of(std::string_view text) {
  std::vector<Source> sources;
  for (std::int64_t line = 1; !text.empty(); ++line) {
    const std::string_view source = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(source.size() + 1, text.size()));
    if (!trim(source).empty()) sources.push_back({source, {.line = line}});
  }
  return sources;
}

// The elements of an array, found by their brackets; what is between these is for the parser to
// judge.
std::vector<Source> elements_of(std::string_view array) {
  std::vector<Source> sources;
  TextPosition at;
  std::int64_t depth = 0;
  std::optional<Source>
      open;  // an element whose end is not yet seen; its text reaches to that of the array
  bool quoted = false, ended = false;
  const auto close = [&](std::size_t end) {
    if (!open) return;
    open->text.remove_suffix(array.size() - end);
    sources.push_back(*open);
    open.reset();
  };
  for (std::size_t i = 0; i < array.size(); ++i) {
    const char c = array[i];
    const bool space = trim({&c, 1}).empty();
    user_check(!ended || space, "line {}: text behind the end of the array", at.line);
    if (depth == 1 && !open && !space && c != ',' && c != ']')
      open = {array.substr(i), at, std::ssize(sources) + 1};
    if (quoted) {
      if (c == '\\' && i + 1 < array.size()) at = behind(array[i++], at);
      quoted = c != '"';
    } else if (c == '"') {
      quoted = true;
    } else if (c == '[' || c == '{') {
      ++depth;
    } else if (c == ']' || c == '}') {
      if (--depth == 0) {
        close(i);
        ended = true;
      }
    } else if (c == ',' && depth == 1) {
      close(i);
    }
    at = behind(array[i], at);
  }
  user_check(ended, "line {}: the array is not closed; is the file cut off?", at.line);
  return sources;
}

// Whether a number stands there that JSON does not have, and Python writes.
bool has_pythons_numbers(std::string_view text) {
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (quoted && text[i] == '\\')
      ++i;
    else if (text[i] == '"')
      quoted = !quoted;
    else if (!quoted &&
             (text.substr(i).starts_with("NaN") || text.substr(i).starts_with("Infinity")))
      return true;
  }
  return false;
}

Json parse_part(std::string_view text, const Source& source) {
  try {
    return parse_json_part(text, source.begin);
  } catch (const UserError& error) {
    if (!has_pythons_numbers(text)) throw;
    fail("{}; NaN and Infinity, which Python writes, are no JSON: leave such rows out",
         error.what());
  }
}

Json parse_object(const Source& source, std::int64_t& replaced) {
  Json object = parse_part(
      is_utf8(source.text) ? std::string(source.text) : repair_utf8(source.text, replaced), source);
  user_check(object.is_object(), "{}: expected a JSON object, got {}", source.where(),
             shorten(to_line(object), 60));
  return object;
}

Json& find_key(Json& object, const std::string& name, const Source& source) {
  const auto found = object.find(name);
  if (found != object.end()) return *found;
  std::vector<std::string> keys;
  for (const auto& [key, value] : object.items()) keys.push_back(key);
  fail("{}: no key '{}'{}; the keys are: {}", source.where(), name, did_you_mean(name, keys),
       fmt::join(keys, ", "));
}

std::string take_text(Json& object, const std::string& name, const Source& source) {
  Json& value = find_key(object, name, source);
  user_check(value.is_string(), "{}: '{}' is no string: {}", source.where(), name,
             shorten(to_line(value), 60));
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

// `task`: what the label is for; none: any of them.
[[noreturn]] void refuse_label(const Json& value, const std::string& name, const Source& source,
                               const std::optional<Task>& task) {
  const char* expected = "is neither a whole number nor a string";
  if (task == Task::regression) expected = "is neither a number nor a list of numbers";
  if (task == Task::multi_label) expected = "is no list of names or numbers";
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
  fail("{}: '{}' {}: {}{}", source.where(), name, expected, shorten(to_line(value), 60), hint);
}

WrittenAnswer take_label(Json& object, const std::string& name, const Source& source,
                         const std::optional<Task>& task) {
  Json& value = find_key(object, name, source);
  const bool fraction = value.is_number_float() && !is_whole(value);
  const bool classes = task == Task::single_label;
  if (is_scalar(value) && !(classes && fraction))
    return {.value = written_value(value), .no_class = fraction};
  const bool list = value.is_array() &&
                    std::ranges::all_of(value, [](const Json& one) { return is_scalar(one); });
  if (!list || classes) refuse_label(value, name, source, task);
  WrittenAnswer answer{.many = true};
  for (Json& one : value) answer.values.push_back(written_value(one));
  return answer;
}

WrittenAnswer take_labels(Json& object, const ColumnChoice& choice, const Source& source) {
  if (choice.labels.size() == 1) return take_label(object, choice.labels[0], source, choice.task);
  WrittenAnswer answer{.many = true};
  for (const std::string& name : choice.labels) {
    Json& value = find_key(object, name, source);
    user_check(is_scalar(value), "{}: '{}' is neither a number nor a string: {}", source.where(),
               name, shorten(to_line(value), 60));
    answer.values.push_back(written_value(value));
  }
  return answer;
}

// Of a column that is only shown: any value, or none.
std::string written(const Json& object, const std::string& name) {
  const auto found = object.find(name);
  if (name.empty() || found == object.end() || found->is_null()) return "";
  return found->is_string() ? found->get<std::string>() : to_line(*found);
}

Record read_record(const Source& source, const ColumnChoice& choice) {
  Record record{.number = source.row == 0 ? source.begin.line : source.row};
  Json object = parse_object(source, record.replaced_bytes);
  record.id = written(object, choice.id);
  record.gold = written(object, choice.gold);
  if (!choice.golds.empty()) {
    Json values = Json::array();
    for (const std::string& name : choice.golds) values.push_back(written(object, name));
    record.gold = to_line(values);
  }
  record.text = take_text(object, choice.text, source);
  if (!choice.text_pair.empty()) record.text_pair = take_text(object, choice.text_pair, source);
  if (!choice.labels.empty()) record.answer = take_labels(object, choice, source);
  return record;
}

std::vector<Record> read_all(const std::vector<Source>& sources, const ColumnChoice& choice,
                             ThreadPool& pool) {
  constexpr std::int64_t kRecordsPerChunk = 256;
  std::vector<Record> records(sources.size());
  parallel_ranges(pool, static_cast<std::int64_t>(sources.size()), kRecordsPerChunk,
                  [&](std::int64_t begin, std::int64_t end) {
                    for (auto i = static_cast<std::size_t>(begin);
                         i < static_cast<std::size_t>(end); ++i)
                      records[i] = read_record(sources[i], choice);
                  });
  return records;
}

}  // namespace

DataTable open_json(std::string_view text) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  const bool array = trim(text).starts_with('[');
  DataTable table{.unit = array ? "row" : "line"};
  const std::vector<Source> sources = array ? elements_of(text) : lines_of(text);
  if (!sources.empty()) {
    std::int64_t replaced = 0;
    const Json first = parse_object(sources[0], replaced);
    for (const auto& [key, value] : first.items())
      table.columns.push_back({key, value.is_string()});
  }
  table.read = [sources](const ColumnChoice& choice, ThreadPool& pool) {
    return read_all(sources, choice, pool);
  };
  table.class_names = [](const std::string&) { return std::vector<std::string>{}; };
  return table;
}

}  // namespace hone
