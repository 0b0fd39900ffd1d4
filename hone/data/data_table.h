#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/json.h"
#include "hone/base/thread_pool.h"
#include "hone/data/columns.h"
#include "hone/data/raw_labels.h"

/// Tables of records. Each file type has a function that opens it; all return the same interface.
namespace hone {

/// Texts and label of one record as they are written; empty if no column was chosen.
struct Record {
  std::string text = {}, text_pair = {};
  RawLabel raw_label = {};
  /// The values as they are written; also empty for null. A label of several columns is a JSON array of their values.
  std::string id = {}, gold = {};
  std::int64_t number = 0;          ///< line or row, from 1
  std::int64_t replaced_bytes = 0;  ///< ill-formed UTF-8 sequences that were replaced
};

/// A file that has been opened but not read.
struct DataTable {
  std::string unit = {};  ///< what `Record::number` counts: "line" or "row"
  std::vector<DataColumn> columns = {};
  bool has_header = true;  ///< false: the first row is data, and column names are numbers
  std::vector<std::string> notes = {};
  /// Reads all records in order. Throws `UserError` with the line or row for a missing column, a value that is neither
  /// text nor label, or a malformed record.
  std::function<std::vector<Record>(const ColumnChoice&, ThreadPool&)> read = {};
  /// Returns whether there are records and all are null in the column. Unset: unknown before reading.
  std::function<bool(const std::string& column)> is_null = {};
  /// Returns the names that the file assigns to the integers of a column, if any.
  std::function<std::vector<std::string>(const std::string& column)> class_names = {};
};

/// Opens delimited text (hone/data/csv.h), usually with a header line (hone/data/header.h). If the first line lacks the
/// usual separator but contains semicolons, tabs or commas, those separate the columns. Ignores empty fields after the
/// last column. `text` must outlive the table.
DataTable open_delimited(std::string_view text, char separator, const DataOptions& options = {});

/// Opens JSON in one of the layouts of hone/data/json_layout.h. Columns that are not requested are not parsed. `text`
/// must outlive the table.
DataTable open_json(std::string_view text, const DataOptions& options = {});

/// Opens plain text, one record per line, in the column `text`; empty lines are records too. `text` must outlive the
/// table.
DataTable open_lines(std::string_view text);

/// Opens a Parquet file in memory. `bytes` must outlive the table.
DataTable open_parquet(std::string_view bytes);

/// Opens an Arrow stream or file in memory (hone/data/arrow.h). `bytes` must outlive the table.
DataTable open_arrow(std::string_view bytes);

/// Returns the class names of a column according to `features`, in the form that `datasets` uses: {"label": {"names":
/// ["neg", "pos"], "_type": "ClassLabel"}, …}; for lists {"feature": {"names": …}, "_type": "List"}, "Sequence" in
/// earlier versions, or [{"names": …}]. Empty if there are none.
std::vector<std::string> class_names_in(const Json& features, const std::string& column);

}  // namespace hone
