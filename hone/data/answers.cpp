#include "hone/data/answers.h"

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

// Calls `look` with every value that is not empty; an empty value is a missing label.
template <typename Look>
void look_at_values(const WrittenAnswer& answer, Look&& look) {
  const std::span<const std::string> values =
      answer.many ? std::span(answer.values) : std::span(&answer.value, 1);
  for (const std::string& value : values)
    if (!value.empty()) look(value);
}

// Returns the elements if a single cell contains a list.
std::optional<Names> list_in(const WrittenAnswer& answer) {
  return answer.many ? std::nullopt : written_list(answer.value);
}

std::size_t lists_in_cells(std::span<const WrittenAnswer> answers) {
  return static_cast<std::size_t>(std::ranges::count_if(
      answers, [](const WrittenAnswer& answer) { return list_in(answer).has_value(); }));
}

std::size_t cells_with_text(std::span<const WrittenAnswer> answers) {
  return static_cast<std::size_t>(std::ranges::count_if(answers, [](const WrittenAnswer& answer) {
    return answer.many || !is_missing_list(answer.value);
  }));
}

// Returns a hint for users whose numbers are names of classes or labels.
std::string taken_as_names(std::span<const WrittenAnswer> answers, bool lists) {
  if (lists) return "`problem_type` multi_label_classification takes them as names of labels";
  if (std::ranges::any_of(answers, &WrittenAnswer::no_class))
    return "write them as strings and give `problem_type` single_label_classification where they "
           "are names of classes";
  return "`problem_type` single_label_classification takes them as names of classes";
}

}  // namespace

std::optional<double> written_number(std::string_view text) {
  text = trim(text);
  if (text.starts_with('+') && !text.substr(1).starts_with('-')) text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool are_left_out(std::span<const WrittenAnswer> answers) {
  bool any = false, all = true;
  for (const WrittenAnswer& answer : answers)
    if (!answer.many && answer.value.empty()) all = false;
  for (const WrittenAnswer& answer : answers)
    look_at_values(answer, [&](const std::string& value) {
      any = true;
      all = all && LabelTable::canonical(value) == "-1";
    });
  return any && all;
}

Task find_task(std::span<const WrittenAnswer> answers, const AnswerPlace& place,
               std::vector<std::string>& notes) {
  const std::size_t cells = lists_in_cells(answers);
  const bool all_cells = cells > 0 && cells == cells_with_text(answers);
  const bool lists = all_cells || std::ranges::any_of(answers, &WrittenAnswer::many);
  std::size_t values = 0, numbers = 0, other_row = 0;
  bool fractions = false;
  std::string other;
  for (std::size_t row = 0; row < answers.size(); ++row) {
    const auto look = [&](const std::string& text) {
      const std::optional<double> value = written_number(text);
      ++values;
      numbers += value.has_value() ? 1 : 0;
      fractions = fractions || (value && std::isfinite(*value) && !is_whole(*value));
      if (value || numbers + 1 != values) return;
      other = text;
      other_row = row;
    };
    if (all_cells)
      look_at_values(WrittenAnswer{.values = list_in(answers[row]).value_or(Names()), .many = true},
                     look);
    else
      look_at_values(answers[row], look);
  }
  if (fractions && numbers == values) {
    notes.push_back(fmt::format(
        "the labels are numbers, not all of them whole: they are taken as numbers to estimate "
        "(regression); {}",
        taken_as_names(answers, lists)));
    return Task::regression;
  }
  if (fractions && static_cast<double>(numbers) >= kNearlyAll * static_cast<double>(values))
    fail(
        "{}: the label '{}' is no number, and {} of {} are, not all of them whole; mend it or "
        "leave "
        "the row out where they are numbers to estimate (`problem_type` regression); {}",
        place(other_row), shorten(other, 60), numbers, values, taken_as_names(answers, lists));
  if (!lists) {
    if (cells > 0)
      notes.push_back(fmt::format(
          "{} of the labels are lists, and not all of them: they are taken as names of classes; "
          "`problem_type` multi_label_classification takes them as sets of labels",
          cells));
    return Task::single_label;
  }
  notes.push_back(fmt::format(
      "the labels are lists: a text has any number of labels (multi_label_classification){}",
      numbers == values ? "; `problem_type` regression takes them as numbers to estimate" : ""));
  return Task::multi_label;
}

}  // namespace hone
