#pragma once

#include <span>
#include <string>
#include <vector>

#include "hone/data/columns.h"

/// Finds column names of tables whose rows are lists of fields: CSV, TSV and JSON arrays of arrays.
namespace hone {

using RowFields = std::vector<std::string>;

/// The maximum number of rows that are examined after the first.
inline constexpr std::size_t kPreviewRows = 100;

struct RowColumns {
  bool header =
      true;  ///< the first row names the columns; false: it is data, and columns are called 0, 1, ...
  std::vector<DataColumn> columns = {};
  std::vector<std::string> notes = {};  ///< about uncertain decisions
};

/// Returns the columns of a table, given its first row and some rows after it.
///
/// The first row is the header, with these exceptions: `options` sets `no_header` or names columns by numbers that the
/// row does not contain; or the row looks like data and contains no usual, given or remembered name. A row looks like
/// data if it has a number above numbers, a value that its column repeats in another row, more than 100 characters, or
/// at least four words in the only column. Columns without a heading are called "Unnamed: 2", with their index from 0.
RowColumns name_columns(const RowFields& first, std::span<const RowFields> rows,
                        const DataOptions& options);

}  // namespace hone
