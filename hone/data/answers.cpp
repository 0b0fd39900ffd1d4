#include "hone/data/answers.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>

#include "hone/base/error.h"
#include "hone/base/json.h"
#include "hone/base/printable.h"
#include "hone/base/text.h"
#include "hone/data/labels.h"

namespace hone {
namespace {

bool is_whole(double value) { return std::isfinite(value) && value == std::trunc(value); }

using Names = std::vector<std::string>;

// Calls `look` with every value; an empty one is a missing answer.
template <typename Look>
void look_at_values(const WrittenAnswer& answer, Look&& look) {
  const std::span<const std::string> values =
      answer.many ? std::span(answer.values) : std::span(&answer.value, 1);
  for (const std::string& value : values)
    if (!value.empty()) look(value);
}

// The elements of a JSON array in one cell.
std::optional<Names> array_in(const WrittenAnswer& answer) {
  if (answer.many || !trim(answer.value).starts_with('[')) return std::nullopt;
  return written_list(answer.value);
}

std::size_t arrays_in_cells(std::span<const WrittenAnswer> answers) {
  return static_cast<std::size_t>(std::ranges::count_if(
      answers, [](const WrittenAnswer& answer) { return array_in(answer).has_value(); }));
}

std::size_t cells_with_text(std::span<const WrittenAnswer> answers) {
  return static_cast<std::size_t>(std::ranges::count_if(answers, [](const WrittenAnswer& answer) {
    return answer.many || !trim(answer.value).empty();
  }));
}

// How numbers become classes, or labels.
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
  const std::size_t arrays = arrays_in_cells(answers);
  const bool all_arrays = arrays > 0 && arrays == cells_with_text(answers);
  const bool lists = all_arrays || std::ranges::any_of(answers, &WrittenAnswer::many);
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
    if (all_arrays)
      look_at_values(
          WrittenAnswer{.values = array_in(answers[row]).value_or(Names()), .many = true}, look);
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
    if (arrays > 0)
      notes.push_back(fmt::format(
          "{} of the labels are JSON arrays, and not all of them: they are taken as names of "
          "classes; `problem_type` multi_label_classification takes them as sets of labels",
          arrays));
    return Task::single_label;
  }
  notes.push_back(fmt::format(
      "the labels are lists: a text has any number of labels (multi_label_classification){}",
      numbers == values ? "; `problem_type` regression takes them as numbers to estimate" : ""));
  return Task::multi_label;
}

std::optional<std::vector<std::string>> written_list(std::string_view text) {
  const Json list = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!list.is_array()) return std::nullopt;
  std::vector<std::string> values;
  for (const Json& value : list) {
    if (!value.is_string() && !value.is_number() && !value.is_boolean()) return std::nullopt;
    values.push_back(value.is_string() ? value.get<std::string>() : value.dump());
  }
  return values;
}

std::vector<std::size_t> outputs_of_values(const std::vector<std::string>& own,
                                           const std::vector<std::string>& names,
                                           std::string_view what, std::vector<std::string>& notes) {
  std::vector<std::size_t> outputs;
  for (const std::string& name : own) {
    const auto found = std::ranges::find(names, name);
    if (found == names.end()) break;
    outputs.push_back(static_cast<std::size_t>(found - names.begin()));
  }
  if (outputs.size() == own.size()) return outputs;
  notes.push_back(fmt::format("{} are matched by their order: the data calls them {}, the model {}",
                              what, fmt::join(own, ", "), fmt::join(names, ", ")));
  outputs.resize(own.size());
  std::iota(outputs.begin(), outputs.end(), std::size_t{0});
  return outputs;
}

}  // namespace hone
