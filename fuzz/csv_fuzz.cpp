#include "fuzz/targets.h"
#include "hone/base/error.h"
#include "hone/base/json.h"
#include "hone/data/csv.h"
#include "hone/data/data_table.h"
#include "hone/data/written_list.h"

namespace hone::fuzz {
namespace {

using Rows = std::vector<std::vector<std::string>>;

// Without quoting, there are no more records than lines.
void check_unquoted(std::string_view text) {
  CsvReader reader(text, ',', /*quotes=*/false);
  const std::size_t most = reader.most_records();
  std::vector<std::string> fields;
  std::size_t count = 0;
  while (reader.next(fields)) ++count;
  HONE_ASSERT(count <= most, "there are more records than lines");
}

void read_table(std::string_view bytes, char separator, const TableForm& form) {
  static ThreadPool pool(1);
  const DataTable table = open_delimited(bytes, separator, {.form = form});
  std::vector<std::string> notes;
  const std::int64_t above = table.has_header ? 1 : 0;
  for (const Record& record : table.read(choose_columns(table.columns, {}, notes), pool))
    HONE_ASSERT(record.number > above, "a record stands above the header");
}

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

// Checks that a list in a cell survives being written.
void list_in_cell(std::string_view cell) {
  if (const auto list = parse_list(cell))
    HONE_ASSERT(parse_list(to_line(Json(*list))) == list,
                "the list does not survive being written");
}

}  // namespace

void csv(std::string_view bytes) {
  list_in_cell(bytes);
  try {
    const Rows rows = rows_of(bytes);
    HONE_ASSERT(rows_of(written(rows)) == rows, "the records do not survive being written");
    check_unquoted(bytes);
  } catch (const UserError&) {  // the table may accept what the reader alone rejects
  }
  for (const TableForm& form : {TableForm{.quoting = "none"}, TableForm{.no_header = true}}) {
    try {
      read_table(bytes, '\t', form);
    } catch (const UserError&) {  // other forms may be accepted
    }
  }
  read_table(bytes, ',', {});
}

}  // namespace hone::fuzz
