#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "hone/data/memory_budget.h"
#include "hone/data/parquet_footer.h"

/// Pages of a Parquet file (parquet.thrift: PageHeader): found, checked and unpacked.
namespace hone {

/// How the values of a page are written; numbers as in parquet.thrift (Encoding).
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

/// One page, still packed.
struct ParquetPage {
  std::uint64_t position = 0;    ///< of its header in the file
  std::string_view packed;       ///< what follows the header
  std::uint64_t size_bytes = 0;  ///< unpacked
  std::int64_t values = 0;
  ParquetEncoding encoding = ParquetEncoding::plain;
  bool compressed = true;
  std::optional<std::uint32_t> crc;  ///< of `packed`
  /// In pages of version 2, the bytes of levels that stand before the values, never compressed.
  struct LevelBytes {
    std::uint64_t repetition = 0, definition = 0;
  };
  std::optional<LevelBytes> level_bytes;
};

struct ParquetPages {
  std::optional<ParquetPage> dictionary;
  std::vector<ParquetPage> data;  ///< in order; their values add up to those of the chunk
};

/// Finds the pages of a chunk by reading their headers. What they say they unpack to is charged to the budget.
/// Throws `UserError` for damage, and for a codec that `unpack_page` does not know.
ParquetPages find_pages(std::string_view file, const ParquetChunk& chunk, MemoryBudget& budget);

/// A page ready to be decoded.
struct UnpackedPage {
  std::unique_ptr<char[]> memory;  ///< none where the page lies open in the file
  std::string_view repetition_levels, definition_levels;  ///< empty where the column has none
  std::string_view values;
};

/// `levels`: those of the column; a dictionary has none. Throws `UserError` when the page does not unpack to its size, or to
/// another check sum than it says.
UnpackedPage unpack_page(const ParquetPage& page, std::int32_t codec, const ParquetLevels& levels);

}  // namespace hone
