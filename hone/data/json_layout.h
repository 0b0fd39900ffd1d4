#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hone/data/data_set.h"
#include "hone/data/json_slices.h"

/// Where the rows of a JSON file are.
namespace hone {

struct JsonRow {
  std::string_view text;
  std::int64_t number;  ///< of its line or of its place among the rows, from 1
};

struct JsonLayout {
  enum class Kind {
    objects,  ///< each row is an object
    arrays,   ///< each row is an array, a value for each column
    texts,    ///< each row is a string
    columns   ///< each column is a list of values
  };
  Kind kind = Kind::objects;
  std::string unit = "line";  ///< what `JsonRow::number` counts
  std::vector<JsonRow> rows = {};
  std::vector<std::string> names =
      {};  ///< of columns, and of those of arrays where the file gives them
  std::vector<std::vector<std::string_view>> columns = {};  ///< the values of each
  std::vector<std::string> notes = {};
};

/// Returns how the file is laid out:
/// - values one after the other, each on a line of its own (JSON Lines) or over several: objects,
///   arrays or strings;
/// - one array of such;
/// - one object that holds the rows under one key, that of `options.form.json_field`, else the only
///   one whose value is a list of objects;
/// - one object of columns, as pandas writes it: lists, objects by index, or `columns` and `data`
///   (orient split); or one object of rows by index.
/// Throws `UserError` for anything else, and for two lists of objects where none is named.
JsonLayout find_layout(const JsonText& file, const DataOptions& options);

}  // namespace hone
