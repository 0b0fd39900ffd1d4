#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "hone/data/parquet_schema.h"

/// What stands at the end of a Parquet file (parquet.thrift: FileMetaData), as far as flat columns need it.
namespace hone {

/// The values of one leaf in one row group: a run of pages in the file.
struct ParquetChunk {
  std::uint64_t offset = 0;
  std::uint64_t size_bytes = 0;
  std::int64_t values = 0;
  ParquetPhysical physical = ParquetPhysical::byte_array;
  std::int32_t codec = 0;  ///< CompressionCodec of parquet.thrift
  bool elsewhere = false;  ///< in another file, or encrypted
};

struct ParquetFooter {
  std::int64_t rows = 0;
  ParquetSchema schema;
  std::vector<std::vector<ParquetChunk>> row_groups;  ///< each with one chunk per leaf
  std::vector<std::int64_t> row_group_rows;           ///< add up to `rows`
  std::map<std::string, std::string> metadata;
};

/// Reads the footer of a whole file. All counts in it agree with each other, and all chunks lie inside of the file.
/// Throws `UserError`.
ParquetFooter read_parquet_footer(std::string_view file);

}  // namespace hone
