#pragma once

#include <cstdint>
#include <vector>

#include "hone/data/parquet.h"
#include "hone/data/thrift_compact.h"

/// The schema in a Parquet footer (parquet.thrift: SchemaElement).
namespace hone {

/// Physical types, with the numbers of parquet.thrift (Type).
enum class ParquetPhysical : std::uint8_t {
  boolean = 0,
  int32 = 1,
  int64 = 2,
  int96 = 3,
  float32 = 4,
  float64 = 5,
  byte_array = 6,
  fixed_byte_array = 7
};

/// Maximum levels of a leaf (Nested Encoding in parquet-format's README).
struct ParquetLevels {
  int repetition = 0;  ///< number of enclosing lists
  int definition = 0;  ///< number of optional or repeated nodes on the path; 0: never null
  /// For values in one list: the definition level from which the list has an element. One level below, the list is
  /// empty; further below, it is null.
  int element = 0;
};

/// A column of values: a leaf of the schema tree.
struct ParquetLeaf {
  ParquetPhysical physical = ParquetPhysical::byte_array;
  ParquetLevels levels = {};
  bool is_unsigned = false;  ///< for integers
};

struct ParquetSchema {
  std::vector<ColumnSchema> columns;
  /// First leaf per column; its only leaf if the column is readable, alone or in lists.
  std::vector<std::size_t> first_leaf;
  std::vector<ParquetLeaf> leaves;
};

/// Reads the list of schema elements. Throws `UserError` if they do not form a tree.
ParquetSchema read_parquet_schema(ThriftReader& reader, const ThriftField& field);

}  // namespace hone
