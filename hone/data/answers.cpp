#include "hone/data/answers.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>

#include "hone/base/json.h"
#include "hone/base/text.h"
#include "hone/data/labels.h"

namespace hone {
namespace {

bool is_whole(double value) { return std::isfinite(value) && value == std::trunc(value); }

// Calls `look` with every value; an empty one is a missing answer.
template <typename Look>
void look_at_values(std::span<const WrittenAnswer> answers, Look&& look) {
  for (const WrittenAnswer& answer : answers) {
    const std::span<const std::string> values =
        answer.many ? std::span(answer.values) : std::span(&answer.value, 1);
    for (const std::string& value : values)
      if (!value.empty()) look(value);
  }
}

}  // namespace

std::optional<double> written_number(std::string_view text) {
  text = trim(text);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool are_left_out(std::span<const WrittenAnswer> answers) {
  bool any = false, all = true;
  for (const WrittenAnswer& answer : answers)
    if (!answer.many && answer.value.empty()) all = false;
  look_at_values(answers, [&](const std::string& value) {
    any = true;
    all = all && LabelTable::canonical(value) == "-1";
  });
  return any && all;
}

Task find_task(std::span<const WrittenAnswer> answers, std::vector<std::string>& notes) {
  bool numbers = true, fractions = false;
  look_at_values(answers, [&](const std::string& text) {
    if (!numbers) return;
    const std::optional<double> value = written_number(text);
    numbers = value.has_value();
    fractions = fractions || (value && std::isfinite(*value) && !is_whole(*value));
  });
  if (numbers && fractions) {
    notes.emplace_back(
        "the labels are numbers, not all of them whole: they are taken as numbers to estimate "
        "(regression); `problem_type` single_label_classification takes them as names of classes");
    return Task::regression;
  }
  if (std::ranges::none_of(answers, &WrittenAnswer::many)) return Task::single_label;
  notes.emplace_back(
      "the labels are lists: a text has any number of labels (multi_label_classification); "
      "`problem_type` regression takes them as numbers to estimate");
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

std::vector<std::string> numbered_names(std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i) names.push_back(fmt::format("LABEL_{}", i));
  return names;
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
