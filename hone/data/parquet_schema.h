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

/// A column of values, at the end of a path of groups.
struct ParquetLeaf {
  ParquetPhysical physical = ParquetPhysical::byte_array;
  bool optional = false;     ///< definition levels say which rows are null
  bool is_unsigned = false;  ///< of integers
};

struct ParquetSchema {
  std::vector<ParquetSchemaColumn> columns;
  std::vector<std::size_t> first_leaf;  ///< by column; its own leaf where the column is readable
  std::vector<ParquetLeaf> leaves;
};

/// Reads the list of schema elements. Throws `UserError` when it is no tree.
ParquetSchema read_parquet_schema(ThriftReader& reader, const ThriftField& field);

}  // namespace hone
