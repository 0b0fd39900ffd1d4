#include "hone/data/arrow.h"

#include "fuzz/targets.h"
#include "hone/base/error.h"

namespace hone::fuzz {
namespace {

void read_arrow_column(const ArrowFile& file, const ColumnSchema& column) {
  static ThreadPool pool(1);
  if (column.is_list) {
    const auto lists = std::ssize(file.read_lists(column.name, pool).begins) - 1;
    HONE_ASSERT(lists == file.rows(), "{} lists of {} rows", lists, file.rows());
    return;
  }
  const StoredColumn read = file.read(column.name, pool);
  const auto rows = std::visit([](const auto& values) { return std::ssize(values); }, read.values);
  HONE_ASSERT(rows == file.rows(), "{} of {} rows", rows, file.rows());
}

}  // namespace

void arrow(std::string_view bytes) {
  const ArrowFile file(bytes);
  for (const ColumnSchema& column : file.columns()) {
    try {
      read_arrow_column(file, column);
    } catch (const UserError&) {  // the columns do not depend on each other
    }
  }
}

}  // namespace hone::fuzz
