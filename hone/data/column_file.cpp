#include "hone/data/column_file.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "hone/base/error.h"
#include "hone/base/text.h"
#include "hone/data/memory_budget.h"

namespace hone {

void append(ColumnValues& all, ColumnValues&& more) {
  std::visit(
      [&]<typename Value>(std::vector<Value>& values) {
        std::ranges::move(std::get<std::vector<Value>>(more), std::back_inserter(values));
      },
      all);
}

std::size_t find_stored_column(const std::vector<ColumnSchema>& columns, std::string_view name,
                               bool lists) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const ColumnSchema& column = columns[i];
    names.push_back(column.name);
    if (column.name != name) continue;
    user_check(!lists || column.is_list,
               "column '{}' is of type {}; expected lists of strings, whole numbers, numbers or "
               "booleans",
               name, column.type);
    user_check(lists || column.readable,
               "column '{}' is of type {}; only flat columns of strings, whole numbers, numbers "
               "and booleans are read",
               name, column.type);
    return i;
  }
  fail("no column '{}'; the columns are: '{}'{}", name, fmt::join(names, "', '"),
       did_you_mean(name, names));
}

void MemoryBudget::charge(std::uint64_t bytes) {
  const bool fits = bytes <= bytes_ && left_.fetch_sub(static_cast<std::int64_t>(bytes)) >=
                                           static_cast<std::int64_t>(bytes);
  user_check(fits,
             "the column would take more than {} of memory, far more than the file's size "
             "explains; the file is damaged or malicious",
             human_bytes(static_cast<double>(bytes_)));
}

}  // namespace hone
