#pragma once

#include <vector>

#include "hone/base/fields.h"
#include "hone/report/table.h"

namespace hone {

/// The values of described structs, written as JSON, with a column for every field: for CSV. The fields of a nested object have
/// columns KEY_FIELD, an interval has KEY_low and KEY_high. Lists of other than whole numbers, maps and free JSON are written as JSON.
Table field_table(const Fields& fields, const Json& rows);
template <Described T>
Table field_table(const std::vector<T>& rows) {
  return field_table(fields<T>(), to_json(rows));
}

}  // namespace hone
