#include "hone/data/number_targets.h"

#include <fmt/ranges.h>

#include <cmath>

#include "hone/base/error.h"
#include "hone/base/printable.h"
#include "hone/base/text.h"
#include "hone/data/class_names.h"
#include "hone/data/written_list.h"

namespace hone {
namespace {

// A single cell may also contain a list.
std::vector<std::string> values_of_label(RawLabel raw_label) {
  if (raw_label.many) return std::move(raw_label.values);
  if (auto list = parse_list(raw_label.value)) return std::move(*list);
  return {std::move(raw_label.value)};
}

float read_number(const std::string& text, const std::string& column,
                  const std::function<std::string()>& where) {
  const std::optional<double> value = parse_decimal(text);
  const auto number = static_cast<float>(value.value_or(0));
  if (value && std::isfinite(number)) return number;
  fail(
      "{}: '{}': expected a number, got '{}'; write one, leave the row out, or choose another "
      "`problem_type` or label column",
      where(), shown_name(column), shorten(text, 60));
}

// Returns the data's names for the numbers of an example.
std::vector<std::string> own_names(std::size_t width, const std::vector<std::string>& columns,
                                   const KnownClasses& known) {
  std::vector<std::string> names = columns.size() == width
                                       ? known.map(columns)
                                       : default_labels(static_cast<std::int64_t>(width));
  const std::size_t expected = known.of_model.size();
  if (expected != 0 && width != expected)
    throw LabelMismatch(fmt::format(
        "the data has {} number{} for a text ({}), the model gives {} ({}); name as many label "
        "columns, or train another head",
        width, width == 1 ? "" : "s", fmt::join(names, ", "), expected,
        fmt::join(known.of_model, ", ")));
  return names;
}

// Matches columns with the model's outputs by name. A single number is the only output, and elements of lists have no
// names.
void adopt_names_of_model(Targets& targets, const std::vector<std::string>& columns,
                          const KnownClasses& known, const std::string& where,
                          std::vector<std::string>& notes) {
  if (!names_are_indices(known.of_model)) targets.names = known.of_model;
  if (columns.size() < 2) return;
  const std::vector<std::size_t> outputs =
      outputs_of_columns(known.map(columns), known, "numbers", where, notes);
  for (std::vector<float>& row : targets.rows) {
    const std::vector<float> written = row;
    for (std::size_t i = 0; i < outputs.size(); ++i) row[outputs[i]] = written[i];
  }
}

}  // namespace

Targets read_numbers(std::vector<RawLabel> raw_labels, const std::vector<std::string>& columns,
                     const KnownClasses& known, const LabelPlace& place,
                     std::vector<std::string>& notes) {
  HONE_ASSERT(!raw_labels.empty() && !columns.empty(), "numbers of no rows or no columns");
  Targets targets;
  std::size_t width = 0;
  for (std::size_t row = 0; row < raw_labels.size(); ++row) {
    const auto where = [&] { return place(row); };
    const std::vector<std::string> values = values_of_label(std::move(raw_labels[row]));
    if (row == 0) width = values.size();
    user_check(!values.empty(), "{}: the list of numbers is empty; leave the row out", where());
    user_check(values.size() == width, "{}: expected {} number{} as in {}, got {}", where(), width,
               width == 1 ? "" : "s", place(0), values.size());
    std::vector<float>& numbers = targets.rows.emplace_back();
    for (std::size_t i = 0; i < width; ++i)
      numbers.push_back(
          read_number(values[i], columns.size() == width ? columns[i] : columns[0], where));
    targets.written.push_back(numbers_text(numbers));
  }
  targets.names = own_names(width, columns, known);
  if (!known.of_model.empty())
    adopt_names_of_model(targets, columns, known, place(0) + ": ", notes);
  return targets;
}

std::string numbers_text(std::span<const float> numbers) {
  return fmt::format("{}", fmt::join(numbers, " "));
}

}  // namespace hone
