#include "hone/data/columns.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

#include "hone/base/error.h"
#include "hone/base/printable.h"
#include "hone/base/text.h"

namespace hone {
namespace {

using Names = std::vector<std::string>;

constexpr std::string_view kTextNames[] = {"text",    "sentence", "review",
                                           "content", "comment",  "tweet"};
constexpr std::string_view kLabelNames[] = {"label",     "labels",   "class", "target",
                                            "sentiment", "category", "stars"};
// Names of the two texts of a pair, without case and punctuation.
struct PairNames {
  std::string_view first;
  std::vector<std::string_view> second;
  bool sure = true;  // false: the second column may also be there for another purpose
};
const std::vector<PairNames>& pair_names() {
  static const std::vector<PairNames> names = {
      {"text", {"textpair", "text2", "textb"}},
      {"text1", {"text2"}},
      {"texta", {"textb"}},
      {"sentence", {"sentencepair", "sentence2", "sentenceb"}},
      {"sentence1", {"sentence2"}},
      {"sentencea", {"sentenceb"}},
      {"sent1", {"sent2"}},
      {"premise", {"hypothesis"}},
      {"question1", {"question2"}},
      {"q1", {"q2"}},
      {"question",
       {"question2", "sentence", "answer", "passage", "paragraph", "context", "document"}},
      {"query", {"document", "doc", "passage", "answer"}},
      {"claim", {"evidence"}},
      {"sentence", {"context"}, /*sure=*/false},
      {"text", {"context", "hypothesis", "reply", "response"}, /*sure=*/false},
      {"query", {"text", "title", "context"}, /*sure=*/false},
      {"context", {"response", "reply", "utterance"}, /*sure=*/false}};
  return names;
}

Names names_of(std::span<const DataColumn> columns) {
  Names names;
  for (const DataColumn& column : columns) names.push_back(column.name);
  return names;
}

// Names are quoted because they may contain commas.
std::string listed(std::span<const DataColumn> columns) {
  Names names;
  for (const DataColumn& column : columns)
    names.push_back(column.first_value.empty() ? fmt::format("'{}'", column.name)
                                               : fmt::format("'{}' (first: '{}')", column.name,
                                                             shorten(column.first_value, 20)));
  return fmt::format("the columns are: {}", fmt::join(names, ", "));
}

// Returns the column called `name`, preferring an exact match over one in another case, or "".
std::string called(std::span<const DataColumn> columns, std::string_view name) {
  for (const DataColumn& column : columns)
    if (column.name == name) return column.name;
  for (const DataColumn& column : columns)
    if (lower_ascii(column.name) == name) return column.name;
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

std::string plain(std::string_view name) {
  std::string letters = lower_ascii(name);
  std::erase_if(letters, [](char c) { return c == '_' || c == '-' || c == ' '; });
  return letters;
}

bool contains(const std::vector<std::string_view>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

struct ColumnPair {
  std::string first, second;
  bool sure = true;
};

// Returns the pairs of columns with such names that may contain texts.
std::vector<ColumnPair> pairs_in(std::span<const DataColumn> columns, const Names& labels) {
  std::vector<ColumnPair> pairs;
  // Premises and templates of hypotheses may repeat; an answer that repeats may be a label.
  const auto is_text = [&](const DataColumn& column, bool may_repeat) {
    return column.is_text && (may_repeat || !column.repeats) &&
           std::ranges::find(labels, column.name) == labels.end();
  };
  for (const PairNames& names : pair_names())
    for (const DataColumn& a : columns)
      for (const DataColumn& b : columns)
        if (plain(a.name) == names.first && contains(names.second, plain(b.name)) &&
            is_text(a, names.sure) && is_text(b, names.sure && plain(b.name) != "answer"))
          pairs.push_back({a.name, b.name, names.sure});
  return pairs;
}

[[noreturn]] void ask_for_pair(std::span<const DataColumn> columns,
                               const std::vector<ColumnPair>& pairs) {
  Names options;
  for (const ColumnPair& pair : pairs)
    options.push_back(
        fmt::format("`text_column` {} `text_pair_column` {}", pair.first, pair.second));
  fail(
      "these columns may hold pairs of texts, or single texts; for pairs give {}; for single texts "
      "`text_column` alone, e.g. {}; {}",
      fmt::join(options, " or "), pairs[0].first, listed(columns));
}

std::string text_of_pair(std::span<const DataColumn> columns, const std::string& second) {
  for (const PairNames& names : pair_names())
    if (contains(names.second, plain(second)))
      for (const DataColumn& column : columns)
        if (plain(column.name) == names.first) return column.name;
  return "";
}

bool is_label(const std::string& name, const ColumnChoice& choice) {
  return std::ranges::find(choice.labels, name) != choice.labels.end();
}

bool has_names(std::span<const DataColumn> columns) {
  return std::ranges::any_of(columns, &DataColumn::named);
}

// Returns the only column that meets `is_it`; "" if there are none or several.
template <typename IsIt>
std::string only_column(std::span<const DataColumn> columns, const IsIt& is_it) {
  std::string only;
  for (const DataColumn& column : columns) {
    if (!is_it(column)) continue;
    if (!only.empty()) return "";
    only = column.name;
  }
  return only;
}

std::string choose_text(std::span<const DataColumn> columns, const ColumnChoice& rest) {
  std::string text;
  if (!rest.text_pair.empty()) text = text_of_pair(columns, rest.text_pair);
  if (text.empty()) text = first_called(columns, kTextNames);
  if (!text.empty() && text != rest.text_pair && !is_label(text, rest)) return text;
  const auto is_free = [&](const DataColumn& column) {
    return column.is_text && !is_label(column.name, rest) && column.name != rest.text_pair;
  };
  text = only_column(columns, is_free);
  if (text.empty() && !has_names(columns))
    text = only_column(
        columns, [&](const DataColumn& column) { return is_free(column) && !column.repeats; });
  if (!text.empty()) return text;
  fail(
      "which column is the text? None is called {}; name it by `text_column`, and the second texts "
      "of pairs by `text_pair_column`; {}",
      fmt::join(kTextNames, ", "), listed(columns));
}

// Sets the text, or both texts of a pair, if neither is given.
void choose_texts(std::span<const DataColumn> columns, ColumnChoice& choice, Names& notes) {
  const std::vector<ColumnPair> pairs = pairs_in(columns, choice.labels);
  if (pairs.empty()) {
    choice.text = choose_text(columns, choice);
    return;
  }
  const std::string single = called(columns, "text");
  const bool other_text = !single.empty() && single != pairs[0].first && single != pairs[0].second;
  if (pairs.size() > 1 || !pairs[0].sure || other_text) ask_for_pair(columns, pairs);
  choice.text = pairs[0].first;
  choice.text_pair = pairs[0].second;
  notes.push_back(
      fmt::format("the texts are pairs: the columns '{}' and '{}'; for single texts give "
                  "`text_column` alone",
                  choice.text, choice.text_pair));
}

// Chooses the label of a table without column names. Returns "" if there are no candidates or several.
std::string choose_label(std::span<const DataColumn> columns, const ColumnChoice& choice) {
  const auto is_free = [&](const DataColumn& column) {
    return column.name != choice.text && column.name != choice.text_pair;
  };
  const std::string only = only_column(columns, is_free);
  return !only.empty() ? only : only_column(columns, [&](const DataColumn& column) {
    return is_free(column) && column.repeats;
  });
}

bool has_column(std::span<const DataColumn> columns, const std::string& name) {
  return std::ranges::find(columns, name, &DataColumn::name) != columns.end();
}

// Returns the column called `given`, or the columns it lists between commas; classification uses one column.
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

// Returns `options` with the remembered columns that the table has, unless others are given. Both texts of a pair are
// used together.
DataOptions with_remembered(std::span<const DataColumn> columns, const DataOptions& options,
                            Names& notes) {
  DataOptions chosen = options;
  const NamedColumns& known = options.remembered;
  Names remembered_names;
  const auto takes = [&](const std::string& name) {
    return name.empty() || (has_column(columns, name) && name != options.label_column);
  };
  if (options.text_column.empty() && options.text_pair_column.empty() && takes(known.text) &&
      takes(known.text_pair)) {
    chosen.text_column = known.text;
    chosen.text_pair_column = known.text_pair;
    const bool usual = known.text == "text" && known.text_pair.empty() &&
                       pairs_in(columns, {options.label_column}).empty();
    if (!known.text.empty() && !usual)
      remembered_names.push_back(fmt::format("the text is column '{}'", known.text));
    if (!known.text_pair.empty())
      remembered_names.push_back(fmt::format("the second text '{}'", known.text_pair));
  }
  const Names labels = label_columns(columns, known.label, options.task);
  const bool free = std::ranges::none_of(labels, [&](const std::string& name) {
    return name == chosen.text_column || name == chosen.text_pair_column;
  });
  if (options.labelled && options.label_column.empty() && !labels.empty() && free &&
      has_columns(columns, labels)) {
    chosen.label_column = known.label;
    if (known.label != "label")
      remembered_names.push_back(fmt::format(
          "the label {}'{}'", remembered_names.empty() ? "is column " : "", known.label));
  }
  if (!remembered_names.empty())
    notes.push_back(
        fmt::format("{}, as when the model was trained", fmt::join(remembered_names, ", ")));
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

// Only columns that are not read may occur twice.
void check_unique(std::span<const DataColumn> columns, const ColumnChoice& choice) {
  Names names = choice.labels;
  names.insert(names.end(), {choice.text, choice.text_pair});
  for (const std::string& name : names)
    user_check(std::ranges::count(columns, name, &DataColumn::name) <= 1,
               "there are two columns '{}'; rename one; {}", name, listed(columns));
}

// Notes a column that was not given, unless it has the `usual` name. `missing`: the column that the model was trained
// on.
void note_found(const char* what, const std::string& name, std::string_view usual,
                const std::string& missing, Names& notes) {
  if (!missing.empty())
    notes.push_back(
        fmt::format("the {} is column '{}', as '{}', which the model was trained on, is missing",
                    what, name, missing));
  else if (name != usual)
    notes.push_back(fmt::format("the {} is column '{}'", what, name));
}

// Returns whether any column that is not read meets the condition.
template <typename MayBeIt>
bool has_other(std::span<const DataColumn> columns, const ColumnChoice& choice,
               const MayBeIt& may_be_it) {
  return std::ranges::any_of(columns, [&](const DataColumn& column) {
    return column.name != choice.text && column.name != choice.text_pair &&
           !is_label(column.name, choice) && may_be_it(column);
  });
}

std::string guess_of(const char* what, const std::string& name) {
  return fmt::format("the {0} column was guessed: {1}; `{0}_column` names another", what, name);
}

// Chooses the column of the known label.
void choose_gold(std::span<const DataColumn> columns, const Names& given,
                 const DataOptions& options, ColumnChoice& choice) {
  choice.gold = given.empty() ? "" : given[0];
  if (choice.gold.empty() && has_column(columns, options.remembered.label))
    choice.gold = options.remembered.label;
  if (choice.gold.empty()) choice.gold = first_called(columns, kLabelNames);
  if (choice.gold == choice.text || choice.gold == choice.text_pair) choice.gold.clear();
}

}  // namespace

void ColumnPreview::add(std::string_view value, bool is_text) {
  if (value.empty()) return;
  ++count_;
  has_text_ = has_text_ || is_text;
  if (different_.find(value) == different_.end()) different_.emplace(value);
}

void ColumnPreview::describe(DataColumn& column) const {
  column.is_text = has_text_;
  column.repeats = count_ > 0 && 2 * different_.size() <= count_;
}

bool is_usual_column(std::string_view name) {
  const std::string own = lower_ascii(trim(name));
  const auto is_own = [&](std::string_view other) { return own == other; };
  if (own == "id" || std::ranges::any_of(kTextNames, is_own) ||
      std::ranges::any_of(kLabelNames, is_own))
    return true;
  return std::ranges::any_of(pair_names(), [&](const PairNames& names) {
    return plain(name) == names.first || contains(names.second, plain(name));
  });
}

DataOptions options_for_next_file(const DataOptions& options, bool has_header,
                                  const ColumnChoice& choice) {
  DataOptions further = options;
  further.form.no_header = !has_header;
  if (has_header) further.text_column = choice.text;
  return further;
}

std::size_t find_column(std::span<const DataColumn> columns, const std::string& name) {
  const auto found = std::find_if(columns.begin(), columns.end(),
                                  [&](const DataColumn& column) { return column.name == name; });
  user_check(found != columns.end(), "no column '{}'; {}{}", name, listed(columns),
             did_you_mean(name, names_of(columns)));
  return static_cast<std::size_t>(found - columns.begin());
}

ColumnChoice choose_columns(std::span<const DataColumn> columns, const DataOptions& given,
                            std::vector<std::string>& notes) {
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
  const bool finds_text = choice.text.empty(), second_is_named = !choice.text_pair.empty();
  if (finds_text && second_is_named) choice.text = choose_text(columns, choice);
  if (finds_text && !second_is_named) choose_texts(columns, choice, notes);
  const bool finds_single = finds_text && choice.text_pair.empty();
  const NamedColumns& known = given.remembered;
  if (finds_single || (finds_text && second_is_named))
    note_found("text", choice.text, second_is_named ? "" : "text",
               has_column(columns, known.text) ? "" : known.text, notes);
  if (!options.labelled) {
    choice.labels.clear();
  } else if (options.label_column.empty()) {
    if (columns.size() == 1)
      throw NoLabelColumn(fmt::format(
          "there is one column, '{}', and so no labels; give texts with labels", columns[0].name));
    if (choice.labels.empty() && !has_names(columns))
      if (std::string name = choose_label(columns, choice); !name.empty())
        choice.labels.push_back(std::move(name));
    if (choice.labels.empty() || is_label(choice.text, choice))
      throw NoLabelColumn(
          fmt::format("which column is the label? None is called {}; name it by `label_column`; {}",
                      fmt::join(kLabelNames, ", "), listed(columns)));
    const bool is_missing =
        !has_columns(columns, label_columns(columns, known.label, options.task));
    note_found("label", choice.labels[0], "label", is_missing ? known.label : "", notes);
    if (choice.labels[0] != "label" && has_other(columns, choice, [](const DataColumn& column) {
          return column.repeats ||
                 std::ranges::find(kLabelNames, lower_ascii(column.name)) != std::end(kLabelNames);
        }))
      choice.guessed = guess_of("label", choice.labels[0]);
  }
  if (finds_single && choice.text != "text" &&
      has_other(columns, choice,
                [](const DataColumn& column) { return column.is_text && !column.repeats; }))
    choice.guessed += (choice.guessed.empty() ? "" : "; ") + guess_of("text", choice.text);
  check_different(choice);
  check_unique(columns, choice);
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
