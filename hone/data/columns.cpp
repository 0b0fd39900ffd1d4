#include "hone/data/columns.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

#include "hone/base/error.h"
#include "hone/base/text.h"

namespace hone {
namespace {

using Names = std::vector<std::string>;

constexpr std::string_view kTextNames[] = {"text",    "sentence", "review",
                                           "content", "comment",  "tweet"};
constexpr std::string_view kLabelNames[] = {"label",     "labels",   "class", "target",
                                            "sentiment", "category", "stars"};
// What the two texts of a pair are called in the data sets of the hub.
constexpr std::pair<std::string_view, std::string_view> kPairNames[] = {
    {"sentence1", "sentence2"}, {"premise", "hypothesis"}, {"question", "sentence"},
    {"question1", "question2"}, {"question", "answer"},    {"text1", "text2"}};

Names names_of(std::span<const DataColumn> columns) {
  Names names;
  for (const DataColumn& column : columns) names.push_back(column.name);
  return names;
}

std::string listed(std::span<const DataColumn> columns) {
  return fmt::format("the columns are: {}", fmt::join(names_of(columns), ", "));
}

void check_unique(std::span<const DataColumn> columns) {
  Names names = names_of(columns);
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  user_check(twice == names.end(), "the column '{}' is there twice; rename one; {}",
             twice == names.end() ? "" : *twice, listed(columns));
}

std::string lower(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + ('a' - 'A'));
  return text;
}

// The column called `name`, in any case if none is called exactly that; "" when there is none.
std::string called(std::span<const DataColumn> columns, std::string_view name) {
  for (const DataColumn& column : columns)
    if (column.name == name) return column.name;
  for (const DataColumn& column : columns)
    if (lower(column.name) == name) return column.name;
  return "";
}

std::string first_called(std::span<const DataColumn> columns,
                         std::span<const std::string_view> names) {
  for (const std::string_view name : names) {
    std::string found = called(columns, name);
    if (!found.empty()) return found;
  }
  return "";
}

// Half of a pair is rarely what somebody wants.
void check_no_pair(std::span<const DataColumn> columns) {
  for (const auto& [first, second] : kPairNames) {
    const std::string a = called(columns, first), b = called(columns, second);
    if (a.empty() || b.empty()) continue;
    fail(
        "the columns '{}' and '{}' look like pairs of texts; give `text_column` {} "
        "`text_pair_column` {} for pairs, or only `text_column` for one of them; {}",
        a, b, a, b, listed(columns));
  }
}

std::string text_of_pair(std::span<const DataColumn> columns, const std::string& second) {
  for (const auto& [first_name, second_name] : kPairNames) {
    std::string first = called(columns, first_name);
    if (!first.empty() && lower(second) == second_name) return first;
  }
  return "";
}

std::string choose_text(std::span<const DataColumn> columns, const ColumnChoice& rest) {
  std::string text;
  if (!rest.text_pair.empty()) {
    text = text_of_pair(columns, rest.text_pair);
  } else if (called(columns, "text").empty()) {
    check_no_pair(columns);
  }
  if (text.empty()) text = first_called(columns, kTextNames);
  if (!text.empty() && text != rest.text_pair && text != rest.label) return text;
  Names words;
  for (const DataColumn& column : columns) {
    if (column.words && column.name != rest.label && column.name != rest.text_pair)
      words.push_back(column.name);
  }
  if (words.size() == 1) return words[0];
  fail("which column is the text? None is called {}; name it by `text_column`; {}",
       fmt::join(kTextNames, ", "), listed(columns));
}

bool has_column(std::span<const DataColumn> columns, const std::string& name) {
  return std::ranges::find(columns, name, &DataColumn::name) != columns.end();
}

// With the columns that are remembered and there, where nothing is named. Both texts of a pair go together.
DataOptions with_remembered(std::span<const DataColumn> columns, const DataOptions& options,
                            std::vector<std::string>& notes) {
  DataOptions chosen = options;
  const NamedColumns& known = options.remembered;
  Names told;
  const auto takes = [&](const std::string& name) {
    return name.empty() || (has_column(columns, name) && name != options.label_column);
  };
  if (options.text_column.empty() && options.text_pair_column.empty() && takes(known.text) &&
      takes(known.text_pair)) {
    chosen.text_column = known.text;
    chosen.text_pair_column = known.text_pair;
    if (!known.text.empty()) told.push_back(fmt::format("the text is column '{}'", known.text));
    if (!known.text_pair.empty())
      told.push_back(fmt::format("the second text '{}'", known.text_pair));
  }
  const bool free = known.label != chosen.text_column && known.label != chosen.text_pair_column;
  if (options.labelled && options.label_column.empty() && !known.label.empty() && free &&
      has_column(columns, known.label)) {
    chosen.label_column = known.label;
    told.push_back(fmt::format("the label {}'{}'", told.empty() ? "is column " : "", known.label));
  }
  if (!told.empty())
    notes.push_back(fmt::format("{}, as when the model was trained", fmt::join(told, ", ")));
  return chosen;
}

}  // namespace

std::size_t find_column(std::span<const DataColumn> columns, const std::string& name) {
  const auto found = std::find_if(columns.begin(), columns.end(),
                                  [&](const DataColumn& column) { return column.name == name; });
  user_check(found != columns.end(), "no column '{}'{}; {}", name,
             did_you_mean(name, names_of(columns)), listed(columns));
  return static_cast<std::size_t>(found - columns.begin());
}

ColumnChoice choose_columns(std::span<const DataColumn> columns, const DataOptions& given,
                            std::vector<std::string>& notes) {
  check_unique(columns);
  const DataOptions options = with_remembered(columns, given, notes);
  ColumnChoice choice{options.text_column, options.text_pair_column, options.label_column, {}, {}};
  for (const std::string& name : {choice.text, choice.text_pair, choice.label})
    if (!name.empty()) find_column(columns, name);
  if (choice.label.empty()) choice.label = first_called(columns, kLabelNames);
  if (choice.text.empty()) {
    choice.text = choose_text(columns, choice);
    if (choice.text != "text") notes.push_back(fmt::format("the text is column '{}'", choice.text));
  }
  if (!options.labelled) {
    choice.label.clear();
  } else if (options.label_column.empty()) {
    user_check(columns.size() != 1,
               "there is one column, '{}', and so no labels; give texts with labels",
               columns.empty() ? "" : columns[0].name);
    user_check(!choice.label.empty() && choice.label != choice.text,
               "which column is the label? None is called {}; name it by `label_column`; {}",
               fmt::join(kLabelNames, ", "), listed(columns));
    if (choice.label != "label")
      notes.push_back(fmt::format("the label is column '{}'", choice.label));
  }
  user_check(choice.text != choice.text_pair && choice.text != choice.label &&
                 (choice.label.empty() || choice.label != choice.text_pair),
             "text '{}', second text '{}' and label '{}' must be different columns", choice.text,
             choice.text_pair, choice.label);
  return choice;
}

ColumnChoice choose_shown_columns(std::span<const DataColumn> columns, const DataOptions& options,
                                  std::vector<std::string>& notes) {
  DataOptions unlabelled = options;
  unlabelled.labelled = false;
  ColumnChoice choice = choose_columns(columns, unlabelled, notes);
  choice.gold = options.label_column;
  if (choice.gold.empty() && has_column(columns, options.remembered.label))
    choice.gold = options.remembered.label;
  if (choice.gold.empty()) choice.gold = first_called(columns, kLabelNames);
  if (choice.gold == choice.text || choice.gold == choice.text_pair) choice.gold.clear();
  choice.id = options.id_column;
  if (choice.id.empty()) choice.id = called(columns, "id");
  if (!choice.id.empty()) find_column(columns, choice.id);
  return choice;
}

}  // namespace hone
