#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "hone/data/parquet_schema.h"

/// The footer of a Parquet file (parquet.thrift: FileMetaData), as far as flat columns and lists need it.
namespace hone {

/// The values of one leaf in one row group: a contiguous sequence of pages.
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
  std::vector<std::vector<ParquetChunk>> row_groups;  ///< one chunk per leaf each
  std::vector<std::int64_t> row_group_rows;           ///< sum: `rows`
  std::map<std::string, std::string> metadata;
};

/// Reads the footer of a whole file, and checks that its counts agree and all chunks are inside the file. Throws
/// `UserError`.
ParquetFooter read_parquet_footer(std::string_view file);

}  // namespace hone
