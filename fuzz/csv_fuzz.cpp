#include "fuzz/targets.h"
#include "hone/base/error.h"
#include "hone/data/csv.h"
#include "hone/data/data_table.h"

namespace hone::fuzz {
namespace {

using Rows = std::vector<std::vector<std::string>>;

Rows rows_of(std::string_view text) {
  CsvReader reader(text, ',');
  Rows rows;
  std::vector<std::string> fields;
  while (reader.next(fields)) rows.push_back(fields);
  return rows;
}

std::string written(const Rows& rows) {
  std::string text;
  for (const std::vector<std::string>& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      text += i == 0 ? "\"" : ",\"";
      for (const char c : row[i]) text += c == '"' ? "\"\"" : std::string(1, c);
      text += '"';
    }
    text += "\r\n";
  }
  return text;
}

}  // namespace

void csv(std::string_view bytes) {
  try {
    const Rows rows = rows_of(bytes);
    HONE_ASSERT(rows_of(written(rows)) == rows, "the records do not survive being written");
  } catch (const UserError&) {  // the table may take what the reader alone does not
  }
  static ThreadPool pool(1);
  const DataTable table = open_delimited(bytes, ',');
  std::vector<std::string> notes;
  for (const Record& record : table.read(choose_columns(table.columns, {}, notes), pool))
    HONE_ASSERT(record.number > 1, "a record stands above the header");
}

}  // namespace hone::fuzz
