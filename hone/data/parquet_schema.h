#pragma once

#include <cstdint>
#include <vector>

#include "hone/data/parquet.h"
#include "hone/data/thrift_compact.h"

/// The schema in a Parquet footer (parquet.thrift: SchemaElement), as the columns of a table.
namespace hone {

/// How a value is stored; numbers as in parquet.thrift (Type).
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

/// How much of the path to a leaf has to be told of each of its values (Nested Encoding in parquet-format's README).
struct ParquetLevels {
  int repetition = 0;  ///< how many lists are around it
  int definition = 0;  ///< how much of it may be missing: 0, a value is always there
  /// Of a value in one list: the definition level from which on the list has an element; below it by one, the list is
  /// empty, by more there is none.
  int element = 0;
};

/// A column of values, at the end of a path of groups.
struct ParquetLeaf {
  ParquetPhysical physical = ParquetPhysical::byte_array;
  ParquetLevels levels = {};
  bool is_unsigned = false;  ///< of integers
};

struct ParquetSchema {
  std::vector<ColumnSchema> columns;
  /// By column; its own leaf where the column is readable, alone or in lists.
  std::vector<std::size_t> first_leaf;
  std::vector<ParquetLeaf> leaves;
};

/// Reads the list of schema elements. Throws `UserError` when it is no tree.
ParquetSchema read_parquet_schema(ThriftReader& reader, const ThriftField& field);

}  // namespace hone
