#include "hone/data/labels.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>

#include "hone/base/error.h"
#include "hone/base/printable.h"
#include "hone/base/text.h"
#include "hone/data/class_names.h"
#include "hone/data/raw_labels.h"

namespace hone {
namespace {

using Names = std::vector<std::string>;
using Classes = std::vector<std::int32_t>;

// Integers that begin at 0 (or are all 1) are already class numbers.
Names classes_of_labels(const Names& labels) {
  Names names = ordered_labels(labels);
  if (!are_integers(names)) return names;
  const std::int64_t first = *parse_integer(names.front()), last = *parse_integer(names.back());
  const bool numbered = first == 0 || (first == 1 && last == 1);
  if (!numbered || last >= static_cast<std::int64_t>(LabelTable::kMaxLabels)) return names;
  names.clear();
  for (std::int64_t i = 0; i <= std::max<std::int64_t>(last, 1); ++i)
    names.push_back(std::to_string(i));
  return names;
}

// Returns the data's name for the integer `label`, or the label itself.
std::string name_in_data(const DistinctLabel& label, const Names& of_data) {
  const std::optional<std::int64_t> number = parse_integer(label.text);
  if (!number || of_data.empty()) return label.text;
  user_check(*number >= 0 && *number < std::ssize(of_data),
             "{}: label '{}' is none of the data's classes: {}", label.where, label.text,
             listed_names(of_data));
  return of_data[static_cast<std::size_t>(*number)];
}

// Returns the names of labels according to the data and the map.
Names names_of_labels(std::span<const DistinctLabel> labels, const KnownClasses& known) {
  const bool takes_numbers = known.map.numbers && !known.of_model.empty();
  const bool named = !names_are_indices(known.of_data) && !takes_numbers;
  Names names;
  for (const DistinctLabel& label : labels) {
    const std::string name = name_in_data(label, named ? known.of_data : Names{});
    const std::string& mapped = known.map(name);
    const std::optional<std::int64_t> number = parse_integer(mapped);
    const bool is_class = number && mapped != name && *number >= 0 &&
                          *number < std::ssize(known.of_model) &&
                          std::ranges::find(known.of_model, mapped) == known.of_model.end();
    names.push_back(is_class ? known.of_model[static_cast<std::size_t>(*number)] : mapped);
  }
  return names;
}

// Returns a template for `label_map`: "a=CLASS,b=CLASS", or for unnamed classes "a=0,b=1", whose numbers the user must
// check.
std::string map_to_fill_in(const Names& labels, const Names& classes) {
  const Names ordered = ordered_labels(labels);
  const bool numbered = names_are_indices(classes) && ordered.size() <= classes.size();
  const std::size_t shown = numbered ? ordered.size() : 4;
  Names pairs;
  for (std::size_t i = 0; i < std::min(shown, ordered.size()); ++i)
    pairs.push_back(
        fmt::format("{}={}", shown_name(ordered[i]), numbered ? std::to_string(i) : "CLASS"));
  return fmt::format("{}{}{}", fmt::join(pairs, ","), ordered.size() > shown ? ",…" : "",
                     numbered ? ", with the number of each class" : "");
}

// Returns the labels without a class, or all labels if every one has a class.
Names unmatched_labels(const Names& labels, const ClassMatch& match) {
  if (match.complete()) return labels;
  Names others;
  for (std::size_t i = 0; i < labels.size(); ++i)
    if (match.class_of[i] == ClassMatch::kNone) others.push_back(labels[i]);
  return others;
}

// `opening`: "d.csv: line 2: label 'x' is not one of the model's classes"
[[noreturn]] void refuse_labels(const std::string& opening, const Names& labels,
                                const Names& classes, const ClassMatch& match) {
  const bool numbers = std::ranges::all_of(labels, [&](const std::string& label) {
    const std::int64_t number = class_number(label).value_or(-1);
    return number >= 0 && number < std::ssize(classes);
  });
  throw LabelMismatch(
      fmt::format("{}: {}{}; the data's are: {}; map them with `label_map` {}{}", opening,
                  listed_names(classes), match.why_not.empty() ? "" : "; " + match.why_not,
                  listed_names(ordered_labels(labels)),
                  map_to_fill_in(unmatched_labels(labels, match), classes),
                  numbers ? ", or with `label_map` ids where they are class numbers" : ""));
}

void note_match(const ClassMatch& match, const Names& labels, const Names& classes,
                std::string_view what, Names& notes) {
  const std::string pairs = match.how.empty() ? "" : listed_pairs(labels, match.class_of, classes);
  if (pairs.empty()) return;
  notes.push_back(
      fmt::format("{} are matched with those of the model {}: {}", what, match.how, pairs));
}

// Reads labels as class numbers, even if classes have names.
ClassMatch match_by_map(std::span<const DistinctLabel> labels, const Names& classes) {
  ClassMatch match{.how = "by class number, as `label_map` says"};
  for (const DistinctLabel& label : labels) {
    const std::optional<std::int64_t> number = class_number(label.text);
    if (!number || *number < 0 || *number >= std::ssize(classes))
      throw LabelMismatch(fmt::format(
          "{}: label '{}' is not a class number; `label_map` ids expects numbers from 0 to {}",
          label.where, shown_name(label.text), classes.size() - 1));
    match.class_of.push_back(static_cast<std::int32_t>(*number));
  }
  return match;
}

// The data's names for integers become the class names of an unnamed model.
std::optional<ClassMatch> match_by_names_of_data(const Names& labels, const KnownClasses& known) {
  if (known.of_data.size() != known.of_model.size() || !names_are_indices(known.of_model) ||
      names_are_indices(known.of_data))
    return std::nullopt;
  ClassMatch match{.how = "by class number, as the model does not name its classes"};
  for (const std::string& label : labels) {
    const auto found = std::ranges::find(known.of_data, label);
    if (found == known.of_data.end()) return std::nullopt;
    match.class_of.push_back(static_cast<std::int32_t>(found - known.of_data.begin()));
  }
  return match;
}

LabelClasses classes_of_model(std::span<const DistinctLabel> labels, const KnownClasses& known,
                              Names& notes) {
  const Names own = names_of_labels(labels, known);
  if (known.map.numbers) {
    const ClassMatch match = match_by_map(labels, known.of_model);
    note_match(match, own, known.of_model, "labels", notes);
    return {known.of_model, match.class_of};
  }
  if (const auto match = match_by_names_of_data(own, known)) {
    note_match(*match, own, known.of_model, "labels", notes);
    return {known.of_data, match->class_of};
  }
  ClassMatch match = match_classes(own, known.of_model);
  if (match.in_order && !known.of_data.empty() && known.map.empty()) {
    match = {.class_of = Classes(own.size(), ClassMatch::kNone),
             .why_not = fmt::format("the model does not name its {} classes, and the data names {}",
                                    known.of_model.size(), known.of_data.size())};
  }
  if (!match.complete()) {
    const auto unmatched = static_cast<std::size_t>(
        std::ranges::find(match.class_of, ClassMatch::kNone) - match.class_of.begin());
    refuse_labels(fmt::format("{}: label '{}' is not one of the model's classes",
                              labels[unmatched].where, shown_name(own[unmatched])),
                  own, known.of_model, match);
  }
  note_match(match, own, known.of_model, "labels", notes);
  // An unnamed model adopts the names of the data.
  return {match.in_order ? ordered_labels(own) : known.of_model, match.class_of};
}

// The rarer of two names is more likely the mistake.
void note_alike(const LabelClasses& classes, std::span<const DistinctLabel> labels, Names& notes) {
  const Names& names = classes.names;
  std::vector<std::int64_t> rows(names.size());
  for (std::size_t i = 0; i < labels.size(); ++i)
    rows[static_cast<std::size_t>(classes.class_of[i])] += labels[i].rows;
  std::map<std::string, std::size_t> by_key;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto [first, is_new] = by_key.emplace(folded_name(names[i]), i);
    if (is_new) continue;
    const bool is_rarer = rows[i] <= rows[first->second];
    const std::size_t rarer = is_rarer ? i : first->second, other = is_rarer ? first->second : i;
    notes.push_back(fmt::format(
        "the classes '{}' ({}) and '{}' ({}) differ only in case or blanks; `label_map` '{}={}' "
        "makes them one",
        shown_name(names[rarer]), grouped(rows[rarer]), shown_name(names[other]),
        grouped(rows[other]), names[rarer], names[other]));
    return;
  }
}

LabelClasses classes_of_data(std::span<const DistinctLabel> labels, const KnownClasses& known,
                             Names& notes) {
  const Names own = names_of_labels(labels, known);
  const bool named = !known.of_data.empty() && known.map.names.empty();
  LabelClasses classes{named ? known.of_data : classes_of_labels(own), {}};
  for (std::size_t i = 0; i < own.size(); ++i) {
    auto found = std::ranges::find(classes.names, own[i]);
    user_check(found != classes.names.end(), "{}: label '{}' is none of the data's classes: {}",
               labels[i].where, shown_name(own[i]), listed_names(classes.names));
    classes.class_of.push_back(static_cast<std::int32_t>(found - classes.names.begin()));
  }
  note_alike(classes, labels, notes);
  return classes;
}

// If nearly all labels are numbers, regression may be intended; names the first label that is not a number.
std::string regression_hint(std::span<const DistinctLabel> labels) {
  const auto is_other = [](const DistinctLabel& label) { return !parse_decimal(label.text); };
  const auto others = static_cast<double>(std::ranges::count_if(labels, is_other));
  if (others > (1 - kNearlyAll) * static_cast<double>(labels.size())) return "";
  std::string hint = " `problem_type` regression reads them as numbers";
  const auto first = std::ranges::find_if(labels, is_other);
  if (first != labels.end())
    hint +=
        fmt::format("; {}: '{}' is none, mend it before", first->where, shorten(first->text, 60));
  return hint;
}

}  // namespace

std::string LabelTable::canonical(std::string_view text) {
  text = trim(text);
  const std::size_t point = text.find('.');
  if (point == std::string_view::npos || point + 1 == text.size()) return std::string(text);
  const bool whole = text.find_first_not_of('0', point + 1) == std::string_view::npos &&
                     parse_integer(text.substr(0, point));
  return std::string(whole ? text.substr(0, point) : text);
}

void LabelTable::note_blanks(std::vector<std::string>& notes) const {
  constexpr std::string_view kNote = "labels are read without the blanks around them, as of '";
  const bool noted =
      std::ranges::any_of(notes, [&](const std::string& note) { return note.starts_with(kNote); });
  if (!first_with_blanks_.empty() && !noted)
    notes.push_back(fmt::format("{}{}'", kNote, shorten(first_with_blanks_, 60)));
}

std::int32_t LabelTable::add(DistinctLabel label) {
  user_check(!label.text.empty(),
             "{}: the label is empty; give the row a label or leave it out, as it can be neither "
             "learned from nor measured",
             label.where);
  if (labels_.size() >= kMaxLabels)
    fail("{}: the label column has more than {} different values; is it the right column?{}",
         label.where, kMaxLabels, regression_hint(labels_));
  const auto number = static_cast<std::int32_t>(labels_.size());
  numbers_.emplace(label.text, number);
  labels_.push_back(std::move(label));
  return number;
}

LabelClasses find_classes(std::span<const DistinctLabel> labels, const KnownClasses& known,
                          std::vector<std::string>& notes) {
  HONE_ASSERT(!labels.empty(), "classes of no labels");
  return known.of_model.empty() ? classes_of_data(labels, known, notes)
                                : classes_of_model(labels, known, notes);
}

std::vector<std::size_t> outputs_of_columns(const std::vector<std::string>& own,
                                            const KnownClasses& known, std::string_view what,
                                            const std::string& where,
                                            std::vector<std::string>& notes) {
  std::vector<std::size_t> outputs(own.size());
  std::iota(outputs.begin(), outputs.end(), std::size_t{0});
  if (known.of_model.empty() || known.map.numbers) return outputs;
  ClassMatch match = match_classes(own, known.of_model);
  if (names_are_indices(known.of_model) && (match.in_order || !match.complete())) {
    match = {.how = "in their order, as the model does not name its outputs"};
    match.class_of.assign(outputs.begin(), outputs.end());
  }
  std::vector<std::int32_t> sorted = match.class_of;
  std::ranges::sort(sorted);
  if (!match.complete() || std::ranges::adjacent_find(sorted) != sorted.end())
    refuse_labels(fmt::format("{}the {} are not those that the model names", where, what), own,
                  known.of_model, match);
  note_match(match, own, known.of_model, what, notes);
  outputs.assign(match.class_of.begin(), match.class_of.end());
  return outputs;
}

}  // namespace hone
