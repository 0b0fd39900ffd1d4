#pragma once

#include <span>
#include <string>
#include <vector>

#include "hone/data/columns.h"

/// What the columns are called in tables whose rows are lists of fields: CSV, TSV and JSON arrays
/// of arrays.
namespace hone {

using RowFields = std::vector<std::string>;

/// At most so many rows behind the first one are looked at.
inline constexpr std::size_t kRowsToSee = 100;

struct RowColumns {
  bool header =
      true;  ///< the first row names the columns; else it is data, and the columns are called 0, 1, ...
  std::vector<DataColumn> columns = {};
  std::vector<std::string> notes = {};  ///< where that is not certain
};

/// Returns the columns of a table by its first row and some rows behind it.
///
/// The first row is the header unless `options` says `no_header`, names columns by numbers that are
/// not in it, or it looks like data and holds no name that is usual, given or remembered: a number
/// above numbers, a value that its column has in another row, more than 100 characters, or in the
/// only column four words or more. Columns whose heading is empty are called "Unnamed: 2", by their
/// number from 0.
RowColumns name_columns(const RowFields& first, std::span<const RowFields> rows,
                        const DataOptions& options);

}  // namespace hone
