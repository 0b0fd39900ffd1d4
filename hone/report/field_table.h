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

/// The same for people: a column for every field that has a header, those of inlined structs included. Its unit says how a number is
/// shown: a share as a percentage, with the decimals of a difference where a value would vanish otherwise; a difference in points; bytes;
/// decibels and seconds with a decimal; others with three significant digits. A number whose interval is the field KEY_interval is shown
/// with it. Truth values are "yes" and "no", null is absent.
Table headed_table(const Fields& fields, const Json& rows);
template <Described T>
Table headed_table(const std::vector<T>& rows) {
  return headed_table(fields<T>(), to_json(rows));
}

}  // namespace hone
