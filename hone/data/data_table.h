#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/json.h"
#include "hone/base/thread_pool.h"
#include "hone/data/answers.h"
#include "hone/data/columns.h"

/// Tables of records as files hold them: one function per kind of file opens it, and from then on
/// they are alike.
namespace hone {

/// Texts and answer of one record as they stand in the file; empty where no column was chosen.
struct Record {
  std::string text = {}, text_pair = {};
  WrittenAnswer answer = {};
  /// As they are written; empty too for a null. A label of several columns is a JSON array of what is written there.
  std::string id = {}, gold = {};
  std::int64_t number = 0;  ///< of its line or row, from 1
  std::int64_t replaced_bytes =
      0;  ///< ill-formed parts of UTF-8 that had to be replaced to read it
};

/// A file that has been opened but not read.
struct DataTable {
  std::string unit = {};  ///< what `Record::number` counts: "line" or "row"
  std::vector<DataColumn> columns = {};
  bool has_header = true;  ///< false: the first row is data, and the columns are called by numbers
  std::vector<std::string> notes = {};
  /// All records in order. Throws `UserError` with the line or row: a column that is not there, a
  /// value that is neither text nor label, malformed records.
  std::function<std::vector<Record>(const ColumnChoice&, ThreadPool&)> read = {};
  /// Whether there are records, and none of them has a value in the column. Empty: not known before it is read.
  std::function<bool(const std::string& column)> is_null = {};
  /// The names that the file gives to the integers of a column; none if it gives no names.
  std::function<std::vector<std::string>(const std::string& column)> class_names = {};
};

/// Delimited text (hone/data/csv.h), usually with a header line (hone/data/header.h). A first line
/// without the usual separator that has semicolons or tabs is split at those. Empty fields behind
/// the columns do not count. `text` must outlive the table.
DataTable open_delimited(std::string_view text, char separator, const DataOptions& options = {});

/// JSON in one of the layouts of hone/data/json_layout.h. What no column asks for is not parsed.
/// `text` must outlive the table.
DataTable open_json(std::string_view text, const DataOptions& options = {});

/// Plain text, a record for each line, in the column `text`; empty lines are records too. `text` must outlive the table.
DataTable open_lines(std::string_view text);

/// A Parquet file in memory. `bytes` must outlive the table; `where` opens the messages of its
/// parser.
DataTable open_parquet(std::string_view bytes);

/// An Arrow file in memory, a stream or not (hone/data/arrow.h). `bytes` must outlive the table.
DataTable open_arrow(std::string_view bytes);

/// The names of classes that `features`, as `datasets` describes columns, gives to the integers of a column: {"label":
/// {"names": ["neg", "pos"], "_type": "ClassLabel"}, …}; of lists {"feature": {"names": …}, "_type": "List"}, of earlier
/// versions "Sequence", or [{"names": …}]. None where it gives no names.
std::vector<std::string> class_names_in(const Json& features, const std::string& column);

}  // namespace hone
