#include "hone/data/json_layout.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "hone/base/error.h"
#include "hone/base/printable.h"
#include "hone/base/text.h"
#include "hone/data/columns.h"

namespace hone {
namespace {

using Names = std::vector<std::string>;
using Slices = std::vector<std::string_view>;
using LayoutKind = JsonLayout::Kind;

bool is_array(std::string_view value) { return value.starts_with('['); }
bool is_object(std::string_view value) { return value.starts_with('{'); }

// Returns the first element, or "".
std::string_view first_element(std::string_view array, const JsonText& file) {
  std::string_view rest = array.substr(1);
  skip_space(rest);
  return rest.starts_with(']') ? std::string_view() : cut_value(rest, file);
}

std::vector<JsonRow> lines_of(std::string_view text) {
  std::vector<JsonRow> rows;
  for (std::int64_t line = 1; !text.empty(); ++line) {
    const std::string_view source = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(source.size() + 1, text.size()));
    if (const std::string_view value = trim(source); !value.empty()) rows.push_back({value, line});
  }
  return rows;
}

// Returns consecutive values, which may span several lines.
std::vector<JsonRow> values_of(const JsonText& file) {
  std::vector<JsonRow> rows;
  std::string_view rest = file.text();
  const char* counted = rest.data();
  for (std::int64_t line = 1; !trim(rest).empty();) {
    const std::string_view value = cut_value(rest, file);
    line += std::count(counted, value.data(), '\n');
    counted = value.data();
    rows.push_back({value, line});
  }
  return rows;
}

// Returns whether the text begins with an object on one line, followed by another object.
bool has_objects_in_lines(std::string_view text) {
  const std::string_view first = trim(text.substr(0, text.find('\n')));
  if (!is_object(first) || !first.ends_with('}')) return false;
  return is_object(trim(text.substr(static_cast<std::size_t>(first.end() - text.begin()))));
}

std::vector<JsonRow> top_values(const JsonText& file) {
  if (has_objects_in_lines(file.text())) return lines_of(file.text());
  std::string_view rest = file.text();
  if (trim(rest).empty()) return {};
  const std::string_view first = cut_value(rest, file);
  if (trim(rest).empty()) return {{first, file.place_of(first.data()).line}};
  const bool one_line =
      first.find('\n') == std::string_view::npos && trim(rest.substr(0, rest.find('\n'))).empty();
  return one_line ? lines_of(file.text()) : values_of(file);
}

JsonLayout layout_of_rows(std::vector<JsonRow> rows, const std::string& unit) {
  JsonLayout layout{.unit = unit, .rows = std::move(rows)};
  if (layout.rows.empty()) return layout;
  const std::string_view first = layout.rows[0].text;
  if (is_object(first)) return layout;
  if (is_array(first)) {
    layout.kind = LayoutKind::arrays;
  } else {
    user_check(first.starts_with('"'),
               "the file is a list of {} values, the first one {}, and no table; expected a JSON "
               "object or array for each example",
               layout.rows.size(), shorten(first, 40));
    layout.kind = LayoutKind::texts;
    layout.names = {"text"};
  }
  return layout;
}

JsonLayout layout_of_array(std::string_view array, const JsonText& file) {
  std::vector<JsonRow> rows;
  for (const std::string_view element : elements_of(array, file))
    rows.push_back({element, std::ssize(rows) + 1});
  return layout_of_rows(std::move(rows), "row");
}

void check_lengths(const JsonLayout& layout) {
  for (std::size_t i = 1; i < layout.columns.size(); ++i)
    user_check(layout.columns[i].size() == layout.columns[0].size(),
               "the column '{}' has {} values, and '{}' has {}", layout.names[i],
               layout.columns[i].size(), layout.names[0], layout.columns[0].size());
}

JsonLayout layout_of_lists(const std::vector<JsonMember>& members, const JsonText& file) {
  JsonLayout layout{.kind = LayoutKind::columns, .unit = "row"};
  for (const auto& [key, value] : members) {
    layout.names.push_back(string_of(key, file));
    layout.columns.push_back(elements_of(value, file));
  }
  check_lengths(layout);
  return layout;
}

// {"text": {"0": "a", "1": "b"}, "label": {"0": 1, "1": 0}}
JsonLayout layout_of_indexed_columns(const std::vector<JsonMember>& columns, const JsonText& file) {
  JsonLayout layout{.kind = LayoutKind::columns, .unit = "row"};
  std::vector<JsonMember> first, own;
  for (const auto& [key, value] : columns) {
    read_members(value, file, own);
    if (layout.names.empty()) first = own;
    layout.names.push_back(string_of(key, file));
    Slices& cells = layout.columns.emplace_back();
    for (std::size_t i = 0; i < own.size(); ++i) {
      if (i < first.size() && own[i].first != first[i].first)
        fail("the columns '{}' and '{}' have different keys: {} and {}", layout.names[0],
             layout.names.back(), first[i].first, own[i].first);
      cells.push_back(own[i].second);
    }
  }
  check_lengths(layout);
  return layout;
}

// {"0": {"text": "a", "label": 1}, "1": {"text": "b", "label": 0}}
JsonLayout layout_of_indexed_rows(const std::vector<JsonMember>& members) {
  std::vector<JsonRow> rows;
  for (const auto& [key, value] : members) rows.push_back({value, std::ssize(rows) + 1});
  return layout_of_rows(std::move(rows), "row");
}

// Returns the layout if it is pandas' orient split.
std::optional<JsonLayout> layout_of_split(const std::vector<JsonMember>& members,
                                          const JsonText& file) {
  std::string_view names, data;
  for (const auto& [key, value] : members) {
    if (key == "\"columns\"") names = value;
    if (key == "\"data\"") data = value;
  }
  if (!is_array(names) || !is_array(data) || !is_array(first_element(data, file)))
    return std::nullopt;
  JsonLayout layout = layout_of_array(data, file);
  for (const std::string_view name : elements_of(names, file))
    layout.names.push_back(name.starts_with('"') ? string_of(name, file) : std::string(name));
  return layout;
}

Names keys_of(const std::vector<JsonMember>& members, const JsonText& file) {
  Names keys;
  for (const auto& [key, value] : members) keys.push_back(string_of(key, file));
  return keys;
}

// Returns the value of the requested key, or "".
std::string_view requested_value(const std::vector<JsonMember>& members, const JsonText& file,
                                 const DataOptions& options) {
  const Names keys = keys_of(members, file);
  for (const std::string& field : {options.form.json_field, options.remembered.form.json_field}) {
    if (field.empty()) continue;
    const auto found = std::ranges::find(keys, field);
    if (found != keys.end()) return members[static_cast<std::size_t>(found - keys.begin())].second;
    user_check(options.form.json_field.empty(), "`json_field`: no key '{}'; the keys are: {}{}",
               field, fmt::join(keys, ", "), did_you_mean(field, keys));
  }
  return {};
}

bool has_usual_name(const std::vector<JsonMember>& members, const JsonText& file,
                    const DataOptions& options) {
  return std::ranges::any_of(keys_of(members, file), [&](const std::string& key) {
    return is_usual_column(key) || key == options.text_column || key == options.label_column;
  });
}

// An object of objects contains columns, unless only the inner keys are usual column names.
JsonLayout layout_of_objects(const std::vector<JsonMember>& members, const JsonText& file,
                             const DataOptions& options) {
  std::vector<JsonMember> inner;
  read_members(members[0].second, file, inner);
  const bool rows = !has_usual_name(members, file, options) && has_usual_name(inner, file, options);
  return rows ? layout_of_indexed_rows(members) : layout_of_indexed_columns(members, file);
}

template <typename IsIt>
bool all_values(const std::vector<JsonMember>& members, const IsIt& is_it) {
  return std::ranges::all_of(members,
                             [&](const JsonMember& member) { return is_it(member.second); });
}

JsonLayout layout_of_list_in(const std::vector<JsonMember>& lists, const JsonText& file) {
  const Names keys = keys_of(lists, file);
  user_check(lists.size() == 1,
             "the file has several lists of rows: {}; name one by `json_field`, e.g. {}",
             fmt::join(keys, ", "), keys[0]);
  JsonLayout layout = layout_of_array(lists[0].second, file);
  layout.notes.push_back(fmt::format("the rows are the list under the key '{}'", keys[0]));
  return layout;
}

JsonLayout layout_of_object(std::string_view object, const JsonText& file,
                            const DataOptions& options) {
  std::vector<JsonMember> members, lists;
  read_members(object, file, members);
  if (const std::string_view requested = requested_value(members, file, options);
      !requested.empty()) {
    user_check(is_array(requested) || is_object(requested),
               "`json_field`: expected a list of rows, got {}", shorten(requested, 40));
    DataOptions inside = options;
    inside.form.json_field = inside.remembered.form.json_field = "";
    return is_array(requested) ? layout_of_array(requested, file)
                               : layout_of_object(requested, file, inside);
  }
  if (std::optional<JsonLayout> split = layout_of_split(members, file)) return *split;
  const bool all_lists = all_values(members, is_array);
  for (const JsonMember& member : members) {
    if (!is_array(member.second)) continue;
    const std::string_view first = first_element(member.second, file);
    if (is_object(first) || (members.size() == 1 && is_array(first))) lists.push_back(member);
  }
  // A single record may contain lists of objects beside its text.
  if (!lists.empty() && (all_lists || !has_usual_name(members, file, options)))
    return layout_of_list_in(lists, file);
  if (!members.empty() && all_lists) return layout_of_lists(members, file);
  if (!members.empty() && all_values(members, is_object))
    return layout_of_objects(members, file, options);
  return layout_of_rows({{object, 1}}, "line");
}

}  // namespace

JsonLayout find_layout(const JsonText& file, const DataOptions& options) {
  std::vector<JsonRow> values = top_values(file);
  if (values.size() != 1) return layout_of_rows(std::move(values), "line");
  if (is_array(values[0].text)) return layout_of_array(values[0].text, file);
  if (is_object(values[0].text)) return layout_of_object(values[0].text, file, options);
  return layout_of_rows(std::move(values), "line");
}

}  // namespace hone
