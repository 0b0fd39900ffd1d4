#include "hone/data/label_sets.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "hone/base/error.h"
#include "hone/base/json.h"
#include "hone/base/printable.h"
#include "hone/base/text.h"
#include "hone/data/class_names.h"
#include "hone/data/written_list.h"

namespace hone {
namespace {

using Names = std::vector<std::string>;
using Lists = std::vector<Names>;  // per example

constexpr std::string_view kSeparators = ",;|";

std::optional<bool> flag_of(std::string_view text) {
  const std::string value = LabelTable::canonical(trim(text));
  if (value == "1" || value == "true" || value == "True" || value == "TRUE") return true;
  if (value == "0" || value == "false" || value == "False" || value == "FALSE") return false;
  return std::nullopt;
}

// Returns the separator of names in cells; 0 if no cell has several names.
char separator_of(std::span<const RawLabel> raw_labels, const LabelPlace& place) {
  char found = 0;
  std::size_t first = 0;
  for (std::size_t row = 0; row < raw_labels.size(); ++row) {
    for (const char c : raw_labels[row].value) {
      if (kSeparators.find(c) == std::string_view::npos || c == found) continue;
      if (found != 0)
        fail(
            "{}: the label '{}' has a '{}', that of {} a '{}', and only one of them can "
            "separate names; write JSON arrays such as [\"a\", \"b\"], or use one separator",
            place(row), shorten(raw_labels[row].value, 60), c, place(first), found);
      found = c;
      first = row;
    }
  }
  return found;
}

Names names_in(const std::string& cell, char separator, const std::function<std::string()>& where) {
  if (trim(cell).empty()) return {};
  if (separator == 0) return {std::string(trim(cell))};
  Names names;
  for (const std::string& piece : split(cell, separator)) {
    names.emplace_back(trim(piece));
    user_check(!names.back().empty(), "{}: '{}' has an empty label next to a '{}'; remove it",
               where(), shorten(cell, 60), separator);
  }
  return names;
}

// Returns the lists; all labels must be lists, or all text. `place` is called only for errors, because `first_list` is
// past the end if there is no list.
Lists lists_of(std::vector<RawLabel> raw_labels, const LabelPlace& place, Names& notes) {
  const auto list = std::ranges::find_if(raw_labels, &RawLabel::many);
  const bool are_lists = list != raw_labels.end();
  const auto first_list = static_cast<std::size_t>(list - raw_labels.begin());
  for (std::size_t row = 0; row < raw_labels.size(); ++row) {
    RawLabel& raw_label = raw_labels[row];
    if (raw_label.many) continue;
    if (are_lists)
      fail("{}: expected a list of labels as in {}, got '{}'; write one label as a list of one",
           place(row), place(first_list), shorten(raw_label.value, 60));
    if (auto values = parse_list(raw_label.value))
      raw_label = {.values = std::move(*values), .many = true};
  }
  if (std::ranges::any_of(raw_labels, &RawLabel::many))
    for (RawLabel& raw_label : raw_labels)
      if (!raw_label.many && is_missing_list(raw_label.value)) raw_label = {.many = true};
  Lists lists;
  const char separator = separator_of(raw_labels, place);
  for (std::size_t row = 0; row < raw_labels.size(); ++row) {
    const auto where = [&] { return place(row); };
    lists.push_back(raw_labels[row].many ? std::move(raw_labels[row].values)
                                         : names_in(raw_labels[row].value, separator, where));
  }
  if (separator != 0)
    notes.push_back(fmt::format("labels are taken to be separated by '{}'", separator));
  return lists;
}

// Returns whether the lists contain a flag for every label rather than names or numbers of labels.
bool are_flags(const Lists& lists, const KnownClasses& known, const LabelPlace& place) {
  const std::size_t width = lists[0].size();
  bool words = false, repeats = false;
  for (const Names& list : lists) {
    if (list.size() != width || list.empty()) return false;
    std::size_t yes = 0;
    for (const std::string& value : list) {
      const std::optional<bool> flag = flag_of(value);
      if (!flag) return false;
      yes += *flag ? 1 : 0;
      words = words || !parse_decimal(value);
    }
    repeats = repeats || yes > 1 || width - yes > 1;
  }
  if (words || repeats) return true;
  const std::size_t expected =
      known.of_model.empty() ? known.of_data.size() : known.of_model.size();
  if (expected != 0 && expected != width) return false;
  fail(
      "{}: the labels are lists of {} value{}, 0 or 1, which may be the numbers of labels, or a "
      "yes "
      "or no of each of them; write the names of the labels, or true and false",
      place(0), width, width == 1 ? "" : "s");
}

// Names of a model's outputs, and the output of each value in a row.
struct Outputs {
  Names names;
  std::vector<std::size_t> of_value;
};

// `own` contains the data's names of the values in a row; may be empty.
Outputs find_outputs(const Names& own, std::size_t width, const KnownClasses& known,
                     const std::string& where, Names& notes) {
  const std::size_t expected = known.of_model.size();
  if (expected != 0 && expected != width)
    throw LabelMismatch(fmt::format(
        "{}: expected a yes or no of each of the model's {} labels ({}), got {} of them{}", where,
        expected, listed_names(known.of_model), width,
        own.empty() ? "" : fmt::format(" ({})", listed_names(own))));
  const bool takes_own = !own.empty() && names_are_indices(known.of_model);
  Outputs outputs{
      known.of_model.empty() ? default_labels(static_cast<std::int64_t>(width)) : known.of_model,
      {}};
  outputs.of_value =
      outputs_of_columns(own.empty() ? outputs.names : own, known, "labels", where + ": ", notes);
  for (std::size_t i = 0; takes_own && i < width; ++i) outputs.names[outputs.of_value[i]] = own[i];
  return outputs;
}

Targets targets_of_flags(const Lists& lists, const Names& own, const KnownClasses& known,
                         const LabelPlace& place, Names& notes) {
  const std::size_t width = lists[0].size();
  Outputs outputs = find_outputs(own, width, known, place(0), notes);
  Targets targets{.names = std::move(outputs.names)};
  for (std::size_t row = 0; row < lists.size(); ++row) {
    std::vector<float>& flags = targets.rows.emplace_back(width, 0.0F);
    std::string& written = targets.written.emplace_back();
    for (std::size_t i = 0; i < width; ++i) {
      const std::optional<bool> flag = flag_of(lists[row][i]);
      user_check(flag.has_value(), "{}: {}expected 0, 1, true or false, got '{}'", place(row),
                 own.size() == width ? fmt::format("'{}': ", shown_name(own[i])) : "",
                 shorten(lists[row][i], 60));
      flags[outputs.of_value[i]] = *flag ? 1.0F : 0.0F;
      written += *flag ? '1' : '0';
    }
  }
  return targets;
}

Targets targets_of_names(const Lists& lists, const KnownClasses& known, const LabelPlace& place,
                         Names& notes) {
  LabelTable table;
  std::vector<std::vector<std::int32_t>> numbers(lists.size());
  for (std::size_t row = 0; row < lists.size(); ++row) {
    for (const std::string& name : lists[row]) {
      const std::int32_t number = table.number_of(name, [&] { return place(row); });
      user_check(std::ranges::find(numbers[row], number) == numbers[row].end(),
                 "{}: the label '{}' is there twice; a list names each of its labels once, and one "
                 "of 0 and 1 has a value for every label, as many in every row",
                 place(row), shown_name(name));
      numbers[row].push_back(number);
    }
  }
  table.note_blanks(notes);
  LabelClasses classes;
  if (!table.labels().empty()) {
    classes = find_classes(table.labels(), known, notes);
  } else {
    classes.names = known.of_model.empty() ? known.of_data : known.of_model;
  }
  Targets targets{.names = std::move(classes.names)};
  user_check(!targets.names.empty(), "{}: neither this text nor any other has a label", place(0));
  for (std::size_t row = 0; row < lists.size(); ++row) {
    std::vector<float>& flags = targets.rows.emplace_back(targets.names.size(), 0.0F);
    for (const std::int32_t number : numbers[row])
      flags[static_cast<std::size_t>(classes.class_of[static_cast<std::size_t>(number)])] = 1;
    std::set<std::string> written;
    for (const std::int32_t number : numbers[row])
      written.insert(table.labels()[static_cast<std::size_t>(number)].text);
    targets.written.push_back(to_line(Json(written)));
  }
  const bool indices = std::ranges::all_of(table.labels(), [](const DistinctLabel& label) {
    return parse_decimal(label.text).has_value();
  });
  if (indices && !table.labels().empty())
    notes.emplace_back("the lists are taken to hold the numbers of their labels");
  return targets;
}

}  // namespace

Targets read_label_sets(std::vector<RawLabel> raw_labels, const std::vector<std::string>& columns,
                        const KnownClasses& known, const LabelPlace& place,
                        std::vector<std::string>& notes) {
  HONE_ASSERT(!raw_labels.empty() && !columns.empty(), "sets of labels of no rows or no columns");
  if (columns.size() > 1) {
    Lists lists;
    for (RawLabel& raw_label : raw_labels) lists.push_back(std::move(raw_label.values));
    return targets_of_flags(lists, known.map(columns), known, place, notes);
  }
  const Lists lists = lists_of(std::move(raw_labels), place, notes);
  if (!are_flags(lists, known, place)) return targets_of_names(lists, known, place, notes);
  const bool named = known.of_data.size() == lists[0].size();
  notes.push_back(fmt::format("lists of {} values 0 and 1 are taken as a yes or no of each label",
                              lists[0].size()));
  return targets_of_flags(lists, named ? known.map(known.of_data) : Names{}, known, place, notes);
}

}  // namespace hone
