#include "fuzz/targets.h"
#include "hone/data/data_table.h"

namespace hone::fuzz {

void json_table(std::string_view bytes) {
  static ThreadPool pool(1);
  const DataTable table = open_json(bytes);
  std::vector<std::string> notes;
  table.read(choose_columns(table.columns, {}, notes), pool);
}

}  // namespace hone::fuzz
