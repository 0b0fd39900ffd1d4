#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "hone/data/column_file.h"
#include "hone/data/flat_buffer.h"
#include "hone/data/memory_budget.h"

/// The schema of an Arrow file (Schema.fbs of Apache Arrow).
namespace hone {

/// Types of arrays, with the numbers of Schema.fbs (union Type).
enum class ArrowKind : std::uint8_t {
  null = 1,
  integer = 2,
  floating_point = 3,
  binary = 4,
  utf8 = 5,
  boolean = 6,
  decimal = 7,
  date = 8,
  time = 9,
  timestamp = 10,
  interval = 11,
  list = 12,
  structure = 13,
  union_of = 14,
  fixed_size_binary = 15,
  fixed_size_list = 16,
  map = 17,
  duration = 18,
  large_binary = 19,
  large_utf8 = 20,
  large_list = 21,
  run_end_encoded = 22,
  binary_view = 23,
  utf8_view = 24,
  list_view = 25,
  large_list_view = 26
};

/// A column or a child of one.
struct ArrowField {
  std::string_view name = {};
  ArrowKind kind = ArrowKind::null;
  int bits = 0;            ///< width of a number
  bool is_signed = false;  ///< for integers
  bool is_dense = false;   ///< for unions
  std::vector<ArrowField> children = {};
  /// The array contains indices (type below) into dictionary `dictionary`, whose values have the type above.
  bool in_dictionary = false;
  std::int64_t dictionary = 0;
  int index_bits = 32;
  bool index_is_signed = true;

  /// Returns "string", "int64", "list<string>", "timestamp", …
  std::string type() const;
  /// Returns whether the values are strings, integers, floating point, booleans or nulls.
  bool is_flat() const;
  bool is_list() const { return kind == ArrowKind::list || kind == ArrowKind::large_list; }
};

struct ArrowSchema {
  std::vector<ArrowField> fields;
  std::map<std::string, std::string> metadata;
};

/// Reads the table Schema of a message, and charges its memory to the budget. Throws `UserError` for big-endian files
/// and damage.
ArrowSchema read_arrow_schema(const FlatTable& schema, MemoryBudget& budget);

}  // namespace hone
