#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "hone/data/parquet_page.h"

/// The encodings of values in pages of Parquet files (Encodings.md of parquet-format).
namespace hone {

/// Strings view the page they are of, or `storage` of DecodedValues.
using ParquetValues =
    std::variant<std::vector<std::string_view>, std::vector<std::int64_t>, std::vector<double>>;

struct DecodedValues {
  ParquetValues values;
  std::string storage;  ///< of strings that are put together of pieces
};

/// The bytes of a dictionary page as its `count` values.
ParquetValues decode_dictionary(std::string_view bytes, ParquetEncoding encoding,
                                ParquetPhysical physical, std::int64_t count);

/// The bytes of a data page as its `count` values. `dictionary` may be null where the column has none. What pieces of
/// strings add up to is charged to the budget. Throws `UserError` for an encoding that is not read, or not of this
/// type, and for bytes that do not give `count` values.
DecodedValues decode_values(std::string_view bytes, ParquetEncoding encoding,
                            ParquetPhysical physical, std::int64_t count,
                            const ParquetValues* dictionary, MemoryBudget& budget);

/// `count` levels of at most `most`, which is not 0.
std::vector<std::uint8_t> decode_levels(std::string_view levels, int most, std::int64_t count);

/// Where the first of `count` definition levels of a flat column is 0, which is a null; `count` where none is.
std::int64_t find_null(std::string_view levels, std::int64_t count);

}  // namespace hone
