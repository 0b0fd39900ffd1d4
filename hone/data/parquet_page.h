#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "hone/data/memory_budget.h"
#include "hone/data/parquet_footer.h"

/// Finds, checks and decompresses pages of a Parquet file (parquet.thrift: PageHeader).
namespace hone {

/// Encodings of values, with the numbers of parquet.thrift (Encoding).
enum class ParquetEncoding : std::int32_t {
  plain = 0,
  plain_dictionary = 2,
  rle = 3,
  delta_binary_packed = 5,
  delta_length_byte_array = 6,
  delta_byte_array = 7,
  rle_dictionary = 8,
  byte_stream_split = 9
};

/// One page, still compressed.
struct ParquetPage {
  std::uint64_t position = 0;    ///< byte offset of the header in the file
  std::string_view packed;       ///< bytes after the header
  std::uint64_t size_bytes = 0;  ///< decompressed
  std::int64_t values = 0;
  ParquetEncoding encoding = ParquetEncoding::plain;
  bool compressed = true;
  std::optional<std::uint32_t> crc;  ///< checksum of `packed`
  /// In pages of version 2, the size of the levels before the values, which are never compressed.
  struct LevelBytes {
    std::uint64_t repetition = 0, definition = 0;
  };
  std::optional<LevelBytes> level_bytes;
};

struct ParquetPages {
  std::optional<ParquetPage> dictionary;
  std::vector<ParquetPage> data;  ///< in order; the sum of their values is that of the chunk
};

/// Finds the pages of a chunk by reading their headers, and charges their decompressed sizes to the budget. Throws
/// `UserError` for damage, and for a codec that `unpack_page` does not support.
ParquetPages find_pages(std::string_view file, const ParquetChunk& chunk, MemoryBudget& budget);

/// A decompressed page.
struct UnpackedPage {
  std::unique_ptr<char[]> memory;                         ///< null if the page is not compressed
  std::string_view repetition_levels, definition_levels;  ///< empty if the column has none
  std::string_view values;
};

/// Decompresses a page. `levels` are those of the column; a dictionary has none. Throws `UserError` if the size or
/// checksum differs from the header's.
UnpackedPage unpack_page(const ParquetPage& page, std::int32_t codec, const ParquetLevels& levels);

}  // namespace hone
