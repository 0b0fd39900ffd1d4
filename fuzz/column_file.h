#pragma once

#include "hone/base/error.h"
#include "hone/data/column_file.h"

namespace hone::fuzz {

/// Reads every column of the file, and checks its length against the number of rows. Columns that are rejected do not
/// prevent reading the others.
inline void read_all_columns(const ColumnFile& file) {
  static ThreadPool pool(1);
  const auto length = [&](const ColumnSchema& column) {
    if (column.is_list) return std::ssize(file.read_lists(column.name, pool).begins) - 1;
    return std::visit([](const auto& values) { return std::ssize(values); },
                      file.read(column.name, pool).values);
  };
  for (const ColumnSchema& column : file.columns()) {
    try {
      const auto rows = length(column);
      HONE_ASSERT(rows == file.rows(), "{} of {} rows", rows, file.rows());
    } catch (const UserError&) {
    }
  }
}

}  // namespace hone::fuzz
