#include "hone/data/raw_labels.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "hone/base/error.h"
#include "hone/base/printable.h"
#include "hone/base/text.h"
#include "hone/data/labels.h"
#include "hone/data/written_list.h"

namespace hone {
namespace {

bool is_whole(double value) { return std::isfinite(value) && value == std::trunc(value); }

using Names = std::vector<std::string>;

// Calls `visit` with every value that is not empty; an empty value is a missing label.
template <typename Visit>
void for_each_value(const RawLabel& raw_label, Visit&& visit) {
  const std::span<const std::string> values =
      raw_label.many ? std::span(raw_label.values) : std::span(&raw_label.value, 1);
  for (const std::string& value : values)
    if (!value.empty()) visit(value);
}

// Returns the elements if a single cell contains a list.
std::optional<Names> list_in(const RawLabel& raw_label) {
  return raw_label.many ? std::nullopt : parse_list(raw_label.value);
}

std::size_t lists_in_cells(std::span<const RawLabel> raw_labels) {
  return static_cast<std::size_t>(std::ranges::count_if(
      raw_labels, [](const RawLabel& raw_label) { return list_in(raw_label).has_value(); }));
}

std::size_t cells_with_text(std::span<const RawLabel> raw_labels) {
  return static_cast<std::size_t>(std::ranges::count_if(raw_labels, [](const RawLabel& raw_label) {
    return raw_label.many || !is_missing_list(raw_label.value);
  }));
}

// Returns a hint for users whose numbers are names of classes or labels.
std::string names_hint(std::span<const RawLabel> raw_labels, bool lists) {
  if (lists) return "`problem_type` multi_label_classification reads them as label names";
  if (std::ranges::any_of(raw_labels, &RawLabel::no_class))
    return "if they are class names, write them as strings and set `problem_type` to "
           "single_label_classification";
  return "`problem_type` single_label_classification reads them as class names";
}

}  // namespace

std::optional<double> parse_decimal(std::string_view text) {
  text = trim(text);
  if (text.starts_with('+') && !text.substr(1).starts_with('-')) text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool all_labels_hidden(std::span<const RawLabel> raw_labels) {
  bool any = false, all = true;
  for (const RawLabel& raw_label : raw_labels)
    if (!raw_label.many && raw_label.value.empty()) all = false;
  for (const RawLabel& raw_label : raw_labels)
    for_each_value(raw_label, [&](const std::string& value) {
      any = true;
      all = all && LabelTable::canonical(value) == "-1";
    });
  return any && all;
}

Task find_task(std::span<const RawLabel> raw_labels, const LabelPlace& place,
               std::vector<std::string>& notes) {
  const std::size_t cells = lists_in_cells(raw_labels);
  const bool all_cells = cells > 0 && cells == cells_with_text(raw_labels);
  const bool lists = all_cells || std::ranges::any_of(raw_labels, &RawLabel::many);
  std::size_t values = 0, numbers = 0, other_row = 0;
  bool fractions = false;
  std::string other;
  for (std::size_t row = 0; row < raw_labels.size(); ++row) {
    const auto visit = [&](const std::string& text) {
      const std::optional<double> value = parse_decimal(text);
      ++values;
      numbers += value.has_value() ? 1 : 0;
      fractions = fractions || (value && std::isfinite(*value) && !is_whole(*value));
      if (value || numbers + 1 != values) return;
      other = text;
      other_row = row;
    };
    if (all_cells)
      for_each_value(RawLabel{.values = list_in(raw_labels[row]).value_or(Names()), .many = true},
                     visit);
    else
      for_each_value(raw_labels[row], visit);
  }
  if (fractions && numbers == values) {
    notes.push_back(fmt::format(
        "the labels are numbers, not all of them integers, so the task is regression; {}",
        names_hint(raw_labels, lists)));
    return Task::regression;
  }
  if (fractions && static_cast<double>(numbers) >= kNearlyAll * static_cast<double>(values))
    fail(
        "{}: the label '{}' is not a number, but {} of {} are, not all of them integers; for "
        "regression (`problem_type` regression), fix it or remove the row; {}",
        place(other_row), shorten(other, 60), numbers, values, names_hint(raw_labels, lists));
  if (!lists) {
    if (cells > 0)
      notes.push_back(
          fmt::format("{} of the labels are lists, but not all, so they are read as class names; "
                      "`problem_type` multi_label_classification reads them as sets of labels",
                      cells));
    return Task::single_label;
  }
  notes.push_back(
      fmt::format("the labels are lists, so the task is multi_label_classification{}",
                  numbers == values ? "; `problem_type` regression reads them as numbers" : ""));
  return Task::multi_label;
}

}  // namespace hone
