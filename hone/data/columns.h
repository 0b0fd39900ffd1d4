#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hone/data/data_set.h"

/// Which columns of a table are texts and labels.
namespace hone {

/// A column as a file shows it before it is read.
struct DataColumn {
  std::string name;
  bool words = true;  ///< holds text, not numbers or anything nested
};

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
};

/// The columns that `options` names, else those it remembers where the table has them, else by name: `text`, sentence, review, content, comment or
/// tweet, in this order and in any case, or the only column that holds words; `label`, labels,
/// class, target, sentiment, category or stars. Where no column is called so and the labels may be other than classes,
/// `label_column` names several between commas. For pairs the first text may also be called
/// sentence1, premise or question. Adds to `notes` what was remembered, and what was chosen by another name than `text` and
/// `label`.
///
/// Throws `UserError`, with the columns there are: a name twice, a column that is not there, no or
/// more than one column that could be it, two columns that look like pairs when none were asked for.
ColumnChoice choose_columns(std::span<const DataColumn> columns, const DataOptions& options,
                            std::vector<std::string>& notes);

/// The columns for texts that need no labels: as above, but without a label; `gold` is the one that would be it and `id`
/// that of `options`, else the one called id, where there are such; `golds` where `options` names or remembers several, the latter with a note.
ColumnChoice choose_shown_columns(std::span<const DataColumn> columns, const DataOptions& options,
                                  std::vector<std::string>& notes);

/// Index of the column called `name`. Throws `UserError` with the nearest name and all of them.
std::size_t find_column(std::span<const DataColumn> columns, const std::string& name);

}  // namespace hone
