#pragma once

#include <nlohmann/json.hpp>

#include "hone/base/file.h"

/// The project's JSON types and functions. Keys keep the order in which they were written or read.
namespace hone {

using Json = nlohmann::ordered_json;
/// For large objects, with sorted keys: `Json` searches keys linearly.
using LargeJson = nlohmann::json;

/// Parses `text`. Throws a `UserError` that begins with `where` (usually a path) for malformed text, nesting deeper
/// than 100, and an object with more than 20,000 keys.
Json parse_json(std::string_view text, std::string_view where);
/// The same without a limit on keys, and without `where`.
LargeJson parse_large_json(std::string_view text);
/// Reads and parses a file. Throws `UserError`.
Json read_json(const fs::path& path);

/// Writes one line, with invalid UTF-8 replaced and numbers in the shortest form that reads back the same.
std::string to_line(const Json& value);
/// Writes the form of the project's files: indented by two spaces, with a final newline.
std::string to_document(const Json& value);

/// Returns a number, or null for NaN and infinities, which JSON cannot represent.
Json finite_or_null(double value);
/// Returns the number that `finite_or_null` wrote; NaN for null and anything else.
double number_or_nan(const Json& value);

}  // namespace hone
