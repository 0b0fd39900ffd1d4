#pragma once

#include <nlohmann/json.hpp>

#include "hone/base/file.h"

/// JSON as the whole project uses it: keys keep the order in which they were written or read.
namespace hone {

using Json = nlohmann::ordered_json;
/// For objects of any size, with sorted keys: `Json` looks for a key from the first one on.
using LargeJson = nlohmann::json;

/// Parses `text`. `where` (a path, usually) opens the message of the `UserError` for malformed
/// text, for nesting deeper than 100, and for an object of more than 20,000 keys.
Json parse_json(std::string_view text, std::string_view where);
/// The same without a limit to the keys, and without `where`.
LargeJson parse_large_json(std::string_view text);
/// Reads and parses a file. Throws `UserError`.
Json read_json(const fs::path& path);

/// One line, invalid UTF-8 replaced; numbers in the shortest form that reads back the same.
std::string to_line(const Json& value);
/// Indented by two spaces, with a final newline: the form of the files we write.
std::string to_document(const Json& value);

/// A number, or null for what JSON has no number for: NaN and infinities.
Json finite_or_null(double value);
/// The number that `finite_or_null` wrote; NaN for null and anything else.
double number_or_nan(const Json& value);

}  // namespace hone
