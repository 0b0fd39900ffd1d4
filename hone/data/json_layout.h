#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hone/data/data_set.h"
#include "hone/data/json_slices.h"

/// Finds the rows of a JSON file.
namespace hone {

struct JsonRow {
  std::string_view text;
  std::int64_t number;  ///< line or index of the row, from 1
};

struct JsonLayout {
  enum class Kind {
    objects,  ///< each row is an object
    arrays,   ///< each row is an array with one value per column
    texts,    ///< each row is a string
    columns   ///< each column is a list of values
  };
  Kind kind = Kind::objects;
  std::string unit = "line";  ///< what `JsonRow::number` counts
  std::vector<JsonRow> rows = {};
  std::vector<std::string> names = {};  ///< of columns; for arrays, if the file has them
  std::vector<std::vector<std::string_view>> columns = {};  ///< values per column
  std::vector<std::string> notes = {};
};

/// Returns the layout of the file:
/// - a sequence of values, one per line (JSON Lines) or over several lines: objects, arrays or strings;
/// - one array of such values;
/// - one object that contains the rows under one key: `options.form.json_field`, else the only key whose value is a
///   list of objects;
/// - one object of columns, as pandas writes it: lists, objects by index, or `columns` and `data` (orient split); or
///   one object of rows by index.
/// Throws `UserError` for anything else, and for several lists of objects if none is named.
JsonLayout find_layout(const JsonText& file, const DataOptions& options);

}  // namespace hone
