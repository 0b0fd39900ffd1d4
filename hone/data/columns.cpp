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

bool is_label(const std::string& name, const ColumnChoice& choice) {
  return std::ranges::find(choice.labels, name) != choice.labels.end();
}

std::string choose_text(std::span<const DataColumn> columns, const ColumnChoice& rest) {
  std::string text;
  if (!rest.text_pair.empty()) {
    text = text_of_pair(columns, rest.text_pair);
  } else if (called(columns, "text").empty()) {
    check_no_pair(columns);
  }
  if (text.empty()) text = first_called(columns, kTextNames);
  if (!text.empty() && text != rest.text_pair && !is_label(text, rest)) return text;
  Names words;
  for (const DataColumn& column : columns) {
    if (column.words && !is_label(column.name, rest) && column.name != rest.text_pair)
      words.push_back(column.name);
  }
  if (words.size() == 1) return words[0];
  fail("which column is the text? None is called {}; name it by `text_column`; {}",
       fmt::join(kTextNames, ", "), listed(columns));
}

bool has_column(std::span<const DataColumn> columns, const std::string& name) {
  return std::ranges::find(columns, name, &DataColumn::name) != columns.end();
}

// The column called `given`, or those that it names between commas; classes stand in one column.
Names label_columns(std::span<const DataColumn> columns, const std::string& given,
                    const std::optional<Task>& task) {
  if (given.empty()) return {};
  if (has_column(columns, given) || task == Task::single_label) return {given};
  Names names;
  for (const std::string& name : split(given, ',')) names.emplace_back(trim(name));
  return names;
}

bool has_columns(std::span<const DataColumn> columns, const Names& names) {
  return std::ranges::all_of(names,
                             [&](const std::string& name) { return has_column(columns, name); });
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
  const Names labels = label_columns(columns, known.label, options.task);
  const bool free = std::ranges::none_of(labels, [&](const std::string& name) {
    return name == chosen.text_column || name == chosen.text_pair_column;
  });
  if (options.labelled && options.label_column.empty() && !labels.empty() && free &&
      has_columns(columns, labels)) {
    chosen.label_column = known.label;
    told.push_back(fmt::format("the label {}'{}'", told.empty() ? "is column " : "", known.label));
  }
  if (!told.empty())
    notes.push_back(fmt::format("{}, as when the model was trained", fmt::join(told, ", ")));
  return chosen;
}

void check_different(const ColumnChoice& choice) {
  Names names = choice.labels;
  names.push_back(choice.text);
  if (!choice.text_pair.empty()) names.push_back(choice.text_pair);
  std::ranges::sort(names);
  user_check(std::ranges::adjacent_find(names) == names.end(),
             "text '{}', second text '{}' and label '{}' must be different columns", choice.text,
             choice.text_pair, fmt::join(choice.labels, ","));
}

// The one column of a label that is shown.
void choose_gold(std::span<const DataColumn> columns, const Names& given,
                 const DataOptions& options, ColumnChoice& choice) {
  choice.gold = given.empty() ? "" : given[0];
  if (choice.gold.empty() && has_column(columns, options.remembered.label))
    choice.gold = options.remembered.label;
  if (choice.gold.empty()) choice.gold = first_called(columns, kLabelNames);
  if (choice.gold == choice.text || choice.gold == choice.text_pair) choice.gold.clear();
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
  ColumnChoice choice{.text = options.text_column,
                      .text_pair = options.text_pair_column,
                      .labels = label_columns(columns, options.label_column, options.task),
                      .task = options.task};
  for (const std::string& name : {choice.text, choice.text_pair})
    if (!name.empty()) find_column(columns, name);
  for (const std::string& name : choice.labels) find_column(columns, name);
  if (choice.labels.empty())
    if (std::string name = first_called(columns, kLabelNames); !name.empty())
      choice.labels.push_back(std::move(name));
  if (choice.text.empty()) {
    choice.text = choose_text(columns, choice);
    if (choice.text != "text") notes.push_back(fmt::format("the text is column '{}'", choice.text));
  }
  if (!options.labelled) {
    choice.labels.clear();
  } else if (options.label_column.empty()) {
    user_check(columns.size() != 1,
               "there is one column, '{}', and so no labels; give texts with labels",
               columns.empty() ? "" : columns[0].name);
    user_check(!choice.labels.empty() && !is_label(choice.text, choice),
               "which column is the label? None is called {}; name it by `label_column`; {}",
               fmt::join(kLabelNames, ", "), listed(columns));
    if (choice.labels[0] != "label")
      notes.push_back(fmt::format("the label is column '{}'", choice.labels[0]));
  }
  check_different(choice);
  return choice;
}

ColumnChoice choose_shown_columns(std::span<const DataColumn> columns, const DataOptions& options,
                                  std::vector<std::string>& notes) {
  DataOptions unlabelled = options;
  unlabelled.labelled = false;
  ColumnChoice choice = choose_columns(columns, unlabelled, notes);
  const Names given = label_columns(columns, options.label_column, options.task);
  const Names known = label_columns(columns, options.remembered.label, options.task);
  if (given.size() > 1) {
    for (const std::string& name : given) find_column(columns, name);
    choice.golds = given;
  } else if (given.empty() && known.size() > 1 && has_columns(columns, known)) {
    notes.push_back(fmt::format("the label is column '{}', as when the model was trained",
                                options.remembered.label));
    choice.golds = known;
  }
  if (choice.golds.empty()) choose_gold(columns, given, options, choice);
  choice.id = options.id_column;
  if (choice.id.empty()) choice.id = called(columns, "id");
  if (!choice.id.empty()) find_column(columns, choice.id);
  return choice;
}

}  // namespace hone
