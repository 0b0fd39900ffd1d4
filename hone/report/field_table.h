#pragma once

#include <vector>

#include "hone/base/fields.h"
#include "hone/report/table.h"

namespace hone {

/// Returns the values of described structs in JSON as a table for CSV, with a column for every field. Fields of a
/// nested object have columns KEY_FIELD, intervals KEY_low and KEY_high. Lists of anything but whole numbers, maps and
/// free JSON are written as JSON.
Table field_table(const Fields& fields, const Json& rows);
template <Described T>
Table field_table(const std::vector<T>& rows) {
  return field_table(fields<T>(), to_json(rows));
}

/// Returns a readable table with a column for every field with a header, including those of inlined structs. The unit
/// selects the notation: a share is a percentage, with the decimals of a difference if a value would vanish otherwise;
/// a difference is in points; bytes have units; decibels and seconds have one decimal; other numbers have three
/// significant digits. A number is shown with its interval if there is a field KEY_interval. Booleans are "yes" and
/// "no", null is absent.
Table headed_table(const Fields& fields, const Json& rows);
template <Described T>
Table headed_table(const std::vector<T>& rows) {
  return headed_table(fields<T>(), to_json(rows));
}

}  // namespace hone
