#include <algorithm>

#include "hone/data/data_table.h"

namespace hone {

DataTable open_lines(std::string_view text) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  DataTable table{.unit = "line", .columns = {{"text"}}};
  table.read = [text, columns = table.columns](const ColumnChoice& choice, ThreadPool&) {
    find_column(columns, choice.text);
    std::vector<Record> records;
    for (std::string_view rest = text; !rest.empty();) {
      std::string_view line = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(std::min(line.size() + 1, rest.size()));
      if (line.ends_with('\r')) line.remove_suffix(1);
      Record& record = records.emplace_back();
      record.text = line;
      record.number = std::ssize(records);
    }
    return records;
  };
  table.class_names = [](const std::string&) { return std::vector<std::string>{}; };
  return table;
}

}  // namespace hone
