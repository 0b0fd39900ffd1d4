#pragma once

#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/error.h"
#include "hone/data/data_set.h"

/// Which columns of a table are texts and labels.
namespace hone {

/// A column as a file shows it before it is read.
struct DataColumn {
  std::string name;
  bool words = true;  ///< holds text, not numbers or anything nested
  bool few = false;   ///< its first values repeat few different ones, as labels do
  /// False: the file gives it no name. It is called by its number from 0, or "Unnamed: 2" where
  /// other columns have names.
  bool named = true;
  std::string first_value = {};  ///< of a column without a name, for messages
};

/// Collects what the first values of a column say about it.
class ColumnPreview {
 public:
  /// `word`: the value is neither a number nor nested. Empty values count for nothing.
  void add(std::string_view value, bool word);
  void describe(DataColumn& column) const;

 private:
  std::set<std::string, std::less<>> different_;
  std::size_t count_ = 0;
  bool words_ = false;
};

/// Returns whether a column of texts, pairs, labels or row numbers is usually called so, in any
/// case.
bool is_usual_column(std::string_view name);

/// Names of the columns to read. Empty: there is none.
struct ColumnChoice {
  std::string text;
  std::string text_pair = {};
  std::vector<std::string> labels = {};
  /// Columns that are only shown, whatever they hold: what tells rows apart, and the label somebody gave.
  std::string id = {}, gold = {};
  /// In place of `gold`, the several columns of such a label.
  std::vector<std::string> golds = {};
  /// What the labels are for, where that is known: classes are no lists and no fractions.
  std::optional<Task> task = {};
  /// See `DataSet::guessed`.
  std::string guessed = {};
};

/// A table has no column that is named as a label usually is.
class NoLabelColumn : public UserError {
  using UserError::UserError;
};

/// Returns the columns that `options` names, else those it remembers where the table has them, else
/// those with usual names.
///
/// The text: `text`, sentence, review, content, comment or tweet, in this order and in any case, or
/// the only column that holds words. Two columns that are usually a pair, such as premise and
/// hypothesis, are read as one; where they need not be, an error asks. The label: `label`, labels,
/// class, target, sentiment, category or stars; where no column is called so and the labels may be
/// other than classes, `label_column` names several between commas. In a table without names the
/// text is the only column of words that do not repeat, and the label the only other column, or the
/// only one of few values. Adds to `notes` what was remembered, or is missing though it was, and what
/// was chosen by another name than `text` and `label`.
///
/// Throws `UserError`, with the columns there are: a chosen name twice, a column that is not there,
/// no or more than one column that could be it; `NoLabelColumn` where that is the label.
ColumnChoice choose_columns(std::span<const DataColumn> columns, const DataOptions& options,
                            std::vector<std::string>& notes);

/// The columns for texts that need no labels: as above, but without a label; `gold` is the one that would be it and `id`
/// that of `options`, else the one called id, where there are such; `golds` where `options` names or remembers several, the latter with a note.
ColumnChoice choose_shown_columns(std::span<const DataColumn> columns, const DataOptions& options,
                                  std::vector<std::string>& notes);

/// Returns options that read further files of the same table: their header, or none, is that of the
/// first one.
DataOptions as_the_first(const DataOptions& options, bool has_header, const ColumnChoice& choice);

/// Index of the column called `name`. Throws `UserError` with the nearest name and all of them.
std::size_t find_column(std::span<const DataColumn> columns, const std::string& name);

}  // namespace hone
