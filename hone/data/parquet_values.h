#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "hone/data/parquet_page.h"

/// Decodes the values of Parquet pages (Encodings.md of parquet-format).
namespace hone {

/// Strings view their page, or `storage` of DecodedValues.
using ParquetValues =
    std::variant<std::vector<std::string_view>, std::vector<std::int64_t>, std::vector<double>>;

struct DecodedValues {
  ParquetValues values;
  std::string storage;  ///< strings that are joined from prefix and suffix
};

/// Decodes the `count` values of a dictionary page.
ParquetValues decode_dictionary(std::string_view bytes, ParquetEncoding encoding,
                                ParquetPhysical physical, std::int64_t count);

/// Decodes the `count` values of a data page. `dictionary` may be null if the column has none. Joined strings are
/// charged to the budget. Throws `UserError` for an encoding that is unsupported or invalid for this type, and if the
/// bytes do not contain `count` values.
DecodedValues decode_values(std::string_view bytes, ParquetEncoding encoding,
                            ParquetPhysical physical, std::int64_t count,
                            const ParquetValues* dictionary, MemoryBudget& budget);

/// Decodes `count` levels of at most `most`, which is not 0.
std::vector<std::uint8_t> decode_levels(std::string_view levels, int most, std::int64_t count);

/// Returns the index of the first null, a definition level of 0, among `count` rows of a flat column; `count` if there
/// is none.
std::int64_t find_null(std::string_view levels, std::int64_t count);

}  // namespace hone
