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

/// Choice of a table's text and label columns.
namespace hone {

/// A column as its first rows describe it.
struct DataColumn {
  std::string name;
  bool is_text = true;   ///< holds text, not numbers or anything nested
  bool repeats = false;  ///< its first values repeat, as labels do
  /// False: the file does not name it. Its name is then its index from 0, or "Unnamed: 2" if other columns have names.
  bool named = true;
  std::string first_value = {};  ///< set for unnamed columns, for messages
};

/// Describes a column by its first values.
class ColumnPreview {
 public:
  /// Adds a value. `is_text`: it is neither a number nor nested. Ignores empty values.
  void add(std::string_view value, bool is_text);
  void describe(DataColumn& column) const;

 private:
  std::set<std::string, std::less<>> different_;
  std::size_t count_ = 0;
  bool has_text_ = false;
};

/// Returns whether `name` is a usual name, in any case, for a column of texts, pairs, labels or row numbers.
bool is_usual_column(std::string_view name);

/// Names of the columns to read. Empty: no such column.
struct ColumnChoice {
  std::string text;
  std::string text_pair = {};
  std::vector<std::string> labels = {};
  /// Columns that are only displayed, of any type: an identifier of the row, and a known label.
  std::string id = {}, gold = {};
  /// Set instead of `gold` if the label has several columns.
  std::vector<std::string> golds = {};
  /// The task of the labels, if known. Labels of classification must not be lists or fractions.
  std::optional<Task> task = {};
  /// See `DataSet::guessed`.
  std::string guessed = {};
};

/// Thrown if no column of a table can be identified as the label.
class NoLabelColumn : public UserError {
  using UserError::UserError;
};

/// Returns the columns that `options` names, else the remembered ones if the table has them, else those with usual
/// names.
///
/// Text: `text`, sentence, review, content, comment or tweet, in this order and in any case, or the only column of
/// words. Two columns that are usually a pair, such as premise and hypothesis, are read as one; ambiguous ones cause an
/// error that asks. Label: `label`, labels, class, target, sentiment, category or stars. `label_column` may name
/// several, separated by commas, if no single column has that name and the task is not classification. In a table
/// without column names, the text is the only column of words that do not repeat; the label is the only other column,
/// or the only one with few distinct values. Adds to `notes` the remembered columns that were used or are missing, and
/// those with names other than `text` and `label`.
///
/// Throws `UserError` with the list of columns: a name chosen twice, a missing column, no candidate or several;
/// `NoLabelColumn` if that concerns the label.
ColumnChoice choose_columns(std::span<const DataColumn> columns, const DataOptions& options,
                            std::vector<std::string>& notes);

/// Chooses columns for texts that need no labels. As above, but `labels` is empty and the label column becomes `gold`.
/// `id` is that of `options`, else the column called id, if any. `golds` is set if `options` names or remembers several
/// label columns; remembered ones are noted.
ColumnChoice choose_shown_columns(std::span<const DataColumn> columns, const DataOptions& options,
                                  std::vector<std::string>& notes);

/// Returns options for further files of the same table, which have a header if the first file has one.
DataOptions options_for_next_file(const DataOptions& options, bool has_header,
                                  const ColumnChoice& choice);

/// Returns the index of the column called `name`. Throws `UserError` with the nearest name and all of them.
std::size_t find_column(std::span<const DataColumn> columns, const std::string& name);

}  // namespace hone
