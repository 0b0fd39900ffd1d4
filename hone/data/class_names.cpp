#include "hone/data/class_names.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <numeric>
#include <set>

#include "hone/base/printable.h"
#include "hone/base/text.h"
#include "hone/text/character.h"
#include "hone/text/normalizer.h"
#include "hone/text/utf8.h"

namespace hone {
namespace {

using NameSpan = std::span<const std::string>;
using Classes = std::vector<std::int32_t>;

constexpr std::size_t kListed = 12;

bool has_prefix(std::string_view text, std::string_view lower_prefix) {
  return text.size() >= lower_prefix.size() &&
         std::ranges::equal(text.substr(0, lower_prefix.size()), lower_prefix,
                            [](char a, char b) { return (a | 0x20) == b; });
}

std::optional<bool> written_truth(std::string_view text) {
  if (text.size() == 4 && has_prefix(text, "true")) return true;
  if (text.size() == 5 && has_prefix(text, "false")) return false;
  return std::nullopt;
}

// Returns the only class with this name, else the only one with this key.
std::int32_t class_called(std::string_view label, NameSpan classes) {
  const auto only = [&](auto&& is_called) {
    const auto first = std::ranges::find_if(classes, is_called);
    if (first == classes.end()) return ClassMatch::kNone;
    const bool twice = std::find_if(first + 1, classes.end(), is_called) != classes.end();
    return twice ? ClassMatch::kNone : static_cast<std::int32_t>(first - classes.begin());
  };
  const std::int32_t exact = only([&](const std::string& name) { return name == label; });
  if (exact != ClassMatch::kNone) return exact;
  return only(
      [key = folded_name(label)](const std::string& name) { return folded_name(name) == key; });
}

ClassMatch match_names(NameSpan labels, NameSpan classes) {
  ClassMatch match;
  for (const std::string& label : labels) {
    const std::int32_t found = class_called(label, classes);
    match.class_of.push_back(found);
    if (found != ClassMatch::kNone && classes[static_cast<std::size_t>(found)] != label)
      match.how = "by name, ignoring case and blanks";
  }
  return match;
}

/// A name that contains one number: "4 stars".
struct NumberedName {
  std::int64_t number;
  std::string rest;  // the key without the number
};

std::optional<NumberedName> numbered(std::string_view name) {
  constexpr std::string_view kDigits = "0123456789";
  constexpr std::size_t kMaxDigits = 15;
  const std::string key = folded_name(name);
  const std::size_t begin = key.find_first_of(kDigits);
  if (begin == std::string::npos) return std::nullopt;
  const std::size_t end = std::min(key.find_first_not_of(kDigits, begin), key.size());
  if (end - begin > kMaxDigits || key.find_first_of(kDigits, end) != std::string::npos)
    return std::nullopt;
  const bool negative = begin == 1 && key[0] == '-';
  NumberedName result{
      .number = 0,
      .rest = folded_name(key.substr(0, negative ? 0 : begin) + " " + key.substr(end))};
  std::from_chars(key.data() + begin, key.data() + end, result.number);
  if (negative) result.number = -result.number;
  return result;
}

// "4" and "4 star" match "4 stars".
bool are_alike(const NumberedName& a, const NumberedName& b) {
  return a.number == b.number && (a.rest.starts_with(b.rest) || b.rest.starts_with(a.rest));
}

std::optional<Classes> by_number_in_name(NameSpan labels, NameSpan classes) {
  std::vector<NumberedName> names;
  for (const std::string& name : classes) {
    const std::optional<NumberedName> one = numbered(name);
    if (!one || std::ranges::find(names, one->number, &NumberedName::number) != names.end())
      return std::nullopt;
    names.push_back(*one);
  }
  Classes found;
  for (const std::string& label : labels) {
    const std::optional<NumberedName> one = numbered(label);
    const auto place = std::ranges::find_if(
        names, [&](const NumberedName& name) { return one && are_alike(*one, name); });
    if (place == names.end()) return std::nullopt;
    found.push_back(static_cast<std::int32_t>(place - names.begin()));
  }
  return found;
}

// Returns the class numbers if all labels are numbers below `count`.
std::optional<Classes> by_class_number(NameSpan labels, std::size_t count) {
  Classes found;
  for (const std::string& label : labels) {
    const std::optional<std::int64_t> number = class_number(label);
    if (!number || *number < 0 || *number >= static_cast<std::int64_t>(count)) return std::nullopt;
    found.push_back(static_cast<std::int32_t>(*number));
  }
  return found;
}

// Numbers stand for named classes only if every class occurs, or there are two. Classes named by numbers match by name
// only.
std::optional<Classes> by_believable_number(NameSpan labels, NameSpan classes) {
  if (are_integers(classes)) return std::nullopt;
  std::optional<Classes> found = by_class_number(labels, classes.size());
  if (!found || classes.size() == 2) return found;
  const std::set<std::int32_t> different(found->begin(), found->end());
  return different.size() == classes.size() ? found : std::nullopt;
}

Classes places_in(NameSpan labels, NameSpan order) {
  Classes found;
  for (const std::string& label : labels)
    found.push_back(static_cast<std::int32_t>(std::ranges::find(order, label) - order.begin()));
  return found;
}

// Numbers outside the range of class numbers get no class.
ClassMatch match_numbers(NameSpan labels, std::size_t count) {
  ClassMatch match;
  for (const std::string& label : labels)
    match.class_of.push_back(
        by_class_number({&label, 1}, count).value_or(Classes{ClassMatch::kNone}).front());
  match.why_not =
      fmt::format("the model does not name its classes, whose numbers are 0 to {}", count - 1);
  return match;
}

ClassMatch match_unnamed(NameSpan labels, NameSpan classes) {
  if (std::optional<Classes> found = by_class_number(labels, classes.size())) {
    const bool truths = std::ranges::any_of(
        labels, [](const std::string& label) { return written_truth(label).has_value(); });
    return {.class_of = std::move(*found), .how = truths ? "by class number" : ""};
  }
  const bool numbers = are_integers(labels);
  const std::vector<std::string> order = ordered_labels(labels);
  // "5" is not a class of a model with the classes "0" to "4".
  if (numbers && order.size() == classes.size() && !are_integers(classes))
    return {.class_of = places_in(labels, order),
            .how = "by their values, as the model does not name its classes",
            .in_order = true};
  if (numbers) return match_numbers(labels, classes.size());
  ClassMatch match = match_names(labels, classes);
  match.why_not = fmt::format("the model does not name its {} classes, so '{}' may be any of them",
                              classes.size(), shown_name(labels.front()));
  return match;
}

}  // namespace

bool ClassMatch::complete() const { return std::ranges::find(class_of, kNone) == class_of.end(); }

std::optional<std::int64_t> parse_integer(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  if (std::to_string(value) != text) return std::nullopt;
  return value;
}

bool are_integers(NameSpan names) {
  return std::ranges::all_of(
      names, [](const std::string& name) { return parse_integer(name).has_value(); });
}

std::optional<std::int64_t> class_number(std::string_view label) {
  constexpr std::string_view kDefault = "label_";
  if (const std::optional<bool> truth = written_truth(label)) return *truth ? 1 : 0;
  const bool is_default = label.size() > kDefault.size() && has_prefix(label, "label") &&
                          label[kDefault.size() - 1] == '_';
  return parse_integer(is_default ? label.substr(kDefault.size()) : label);
}

bool names_are_indices(NameSpan classes) {
  for (std::size_t i = 0; i < classes.size(); ++i)
    if (class_number(classes[i]) != static_cast<std::int64_t>(i) || written_truth(classes[i]))
      return false;
  return true;
}

std::string folded_name(std::string_view name) {
  CodePoints letters;
  decode_utf8(composed(name), letters);
  std::string key, marks;
  bool gap = false;
  for (const char32_t letter : letters) {
    const bool mark = letter == U'-' || letter == U'_';
    if (mark || is_white_space(letter)) {
      gap = true;
      if (mark) marks += static_cast<char>(letter);
      continue;
    }
    // Marks separate words only between letters: "-1" and "A-" differ from "1" and "A".
    if (gap) key += key.empty() ? marks : " ";
    gap = false;
    marks.clear();
    for (const char32_t lower : to_lower(letter)) append_utf8(lower, key);
  }
  return key + marks;
}

std::optional<std::vector<std::int32_t>> class_order(NameSpan a, NameSpan b) {
  if (a.size() != b.size()) return std::nullopt;
  std::vector<std::int32_t> order(a.size());
  std::iota(order.begin(), order.end(), 0);
  if (names_are_indices(a) || names_are_indices(b) ||
      std::ranges::equal(a, b, {}, folded_name, folded_name))
    return order;
  std::map<std::string, std::int32_t> numbers;
  for (std::size_t i = 0; i < b.size(); ++i)
    if (!numbers.emplace(folded_name(b[i]), static_cast<std::int32_t>(i)).second)
      return std::nullopt;  // ambiguous
  std::set<std::int32_t> found;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const auto number = numbers.find(folded_name(a[i]));
    if (number == numbers.end() || !found.insert(number->second).second) return std::nullopt;
    order[i] = number->second;
  }
  return order;
}

std::vector<float> permute_columns(std::span<const float> rows,
                                   std::span<const std::int32_t> order) {
  std::vector<float> moved(rows.size());
  for (std::size_t row = 0; row < rows.size(); row += order.size())
    for (std::size_t i = 0; i < order.size(); ++i)
      moved[row + i] = rows[row + static_cast<std::size_t>(order[i])];
  return moved;
}

ClassMatch match_classes(NameSpan labels, NameSpan classes) {
  ClassMatch match = match_names(labels, classes);
  if (match.complete()) return match;
  if (names_are_indices(classes)) return match_unnamed(labels, classes);
  if (std::optional<Classes> found = by_number_in_name(labels, classes))
    return {.class_of = std::move(*found), .how = "by the number in the class's name"};
  if (std::optional<Classes> found = by_believable_number(labels, classes))
    return {.class_of = std::move(*found), .how = "by class number"};
  const std::string& unmatched = labels[static_cast<std::size_t>(
      std::ranges::find(match.class_of, ClassMatch::kNone) - match.class_of.begin())];
  if (std::ranges::find(classes, unmatched) != classes.end())
    match.why_not = "two of them are called so";
  else if (by_class_number(labels, classes.size()))
    match.why_not = fmt::format(
        "numbers are taken as class numbers only where each of 0 to {} occurs", classes.size() - 1);
  return match;
}

std::vector<std::string> ordered_labels(NameSpan labels) {
  std::set<std::string> names(labels.begin(), labels.end());
  std::vector<std::string> result(names.begin(), names.end());
  if (are_integers(result))
    std::ranges::sort(result, {}, [](const std::string& name) { return *parse_integer(name); });
  return result;
}

std::string listed_names(NameSpan names) {
  std::vector<std::string> shown;
  for (const std::string& name : names.first(std::min(names.size(), kListed)))
    shown.push_back(shown_name(name));
  return fmt::format(
      "{}{}", fmt::join(shown, ", "),
      names.size() > kListed ? fmt::format(" and {} more", names.size() - kListed) : "");
}

std::string listed_pairs(NameSpan labels, std::span<const std::int32_t> class_of,
                         NameSpan classes) {
  std::vector<std::string> pairs;
  std::set<std::string> listed;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const std::string& name = classes[static_cast<std::size_t>(class_of[i])];
    if (name != labels[i] && listed.insert(labels[i]).second)
      pairs.push_back(fmt::format("{} = {}", labels[i], name));
  }
  return listed_names(pairs);
}

}  // namespace hone
