#include "hone/data/labels.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>

#include "hone/base/error.h"
#include "hone/base/printable.h"
#include "hone/base/text.h"
#include "hone/data/answers.h"

namespace hone {
namespace {

using Names = std::vector<std::string>;

std::optional<std::int64_t> parse_integer(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

std::optional<std::int64_t> index_in(const std::string& text, const Names& names) {
  const auto found = std::find(names.begin(), names.end(), text);
  if (found == names.end()) return std::nullopt;
  return found - names.begin();
}

// An index by its digits; false and true are the indices of two classes.
std::optional<std::int64_t> as_index(const std::string& text, std::size_t classes) {
  if (classes == 2 && text == "false") return 0;
  if (classes == 2 && text == "true") return 1;
  const std::optional<std::int64_t> value = parse_integer(text);
  if (!value || *value < 0 || *value >= static_cast<std::int64_t>(classes)) return std::nullopt;
  return value;
}

// Integers that begin at 0 (or are all 1) are indices already; other integers are numbered by value,
// strings by name.
Names names_by_labels(std::span<const WrittenLabel> labels) {
  std::set<std::string> names;
  std::set<std::int64_t> integers;
  for (const WrittenLabel& label : labels) {
    names.insert(label.text);
    if (const auto value = parse_integer(label.text)) integers.insert(*value);
  }
  if (integers.size() < names.size()) return {names.begin(), names.end()};
  Names result;
  const std::int64_t first = *integers.begin(), last = *integers.rbegin();
  if (last < static_cast<std::int64_t>(LabelTable::kMostLabels) &&
      (first == 0 || (first == 1 && last == 1))) {
    for (std::int64_t i = 0; i <= std::max<std::int64_t>(last, 1); ++i)
      result.push_back(std::to_string(i));
  } else {
    for (const std::int64_t value : integers) result.push_back(std::to_string(value));
  }
  return result;
}

bool contains_all(const Names& names, const Names& part) {
  return std::all_of(part.begin(), part.end(),
                     [&](const std::string& name) { return index_in(name, names).has_value(); });
}

std::optional<std::int64_t> class_among(const WrittenLabel& label, const Names& names,
                                        const Names& of_data) {
  if (const auto index = as_index(label.text, of_data.size()))
    if (const auto found = index_in(of_data[static_cast<std::size_t>(*index)], names)) return found;
  if (const auto found = index_in(label.text, names)) return found;
  // Numbers that are names leave no room for indices.
  const bool indexed = std::none_of(names.begin(), names.end(), parse_integer);
  if (const auto index = as_index(label.text, names.size()); index && indexed) return index;
  return std::nullopt;
}

std::string none_of(const WrittenLabel& label, std::string_view whose, const Names& names) {
  return fmt::format("{}: label '{}' is none of {} classes: {}", label.where,
                     shown_name(label.text), whose, fmt::join(names, ", "));
}

LabelClasses classes_of_model(std::span<const WrittenLabel> labels, const KnownClasses& known,
                              Names& notes) {
  LabelClasses classes{known.of_model, {}};
  const bool by_name = contains_all(known.of_model, known.of_data);
  if (!by_name)
    notes.push_back(
        fmt::format("classes are matched by number: the data calls them {}, the model {}",
                    fmt::join(known.of_data, ", "), fmt::join(known.of_model, ", ")));
  const Names of_data = by_name ? known.of_data : Names{};
  for (const WrittenLabel& label : labels) {
    const auto found = class_among(label, known.of_model, of_data);
    if (!found) throw LabelMismatch(none_of(label, "the model's", known.of_model));
    classes.class_of.push_back(static_cast<std::int32_t>(*found));
  }
  return classes;
}

// Too many labels may be numbers; the first that is none is in the way of taking them so.
std::string hint_at_numbers(std::span<const WrittenLabel> labels) {
  const auto is_other = [](const WrittenLabel& label) { return !written_number(label.text); };
  const auto others = static_cast<double>(std::ranges::count_if(labels, is_other));
  if (others > (1 - kNearlyAll) * static_cast<double>(labels.size())) return "";
  std::string hint = " `problem_type` regression takes them as numbers to estimate";
  const auto first = std::ranges::find_if(labels, is_other);
  if (first != labels.end())
    hint +=
        fmt::format("; {}: '{}' is none, mend it before", first->where, shorten(first->text, 60));
  return hint;
}

}  // namespace

std::string LabelTable::canonical(std::string_view text) {
  const std::size_t point = text.find('.');
  if (point == std::string_view::npos || point + 1 == text.size()) return std::string(text);
  const bool whole = text.find_first_not_of('0', point + 1) == std::string_view::npos &&
                     parse_integer(text.substr(0, point));
  return std::string(whole ? text.substr(0, point) : text);
}

std::int32_t LabelTable::add(WrittenLabel label) {
  user_check(!label.text.empty(), "{}: the label is empty", label.where);
  if (labels_.size() >= kMostLabels)
    fail("{}: the label column has more than {} different values; is it the right column?{}",
         label.where, kMostLabels, hint_at_numbers(labels_));
  const auto number = static_cast<std::int32_t>(labels_.size());
  numbers_.emplace(label.text, number);
  labels_.push_back(std::move(label));
  return number;
}

LabelClasses find_classes(std::span<const WrittenLabel> labels, const KnownClasses& known,
                          std::vector<std::string>& notes) {
  HONE_ASSERT(!labels.empty(), "classes of no labels");
  if (!known.of_model.empty()) return classes_of_model(labels, known, notes);
  LabelClasses classes{known.of_data.empty() ? names_by_labels(labels) : known.of_data, {}};
  for (const WrittenLabel& label : labels) {
    const auto found = class_among(label, classes.names, known.of_data);
    if (!found) fail("{}", none_of(label, "the data's", classes.names));
    user_check(known.most == 0 || *found < known.most,
               "{}: label '{}' is class {}, but the model has only {} classes", label.where,
               label.text, *found, known.most);
    classes.class_of.push_back(static_cast<std::int32_t>(*found));
  }
  const bool guessed =
      known.most > 0 && std::none_of(labels.begin(), labels.end(), [](const WrittenLabel& label) {
        return parse_integer(label.text);
      });
  if (guessed)
    notes.push_back(
        fmt::format("the model does not name its classes; they are taken to be, in order: {}",
                    fmt::join(classes.names, ", ")));
  return classes;
}

}  // namespace hone
