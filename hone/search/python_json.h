#pragma once

#include <string>
#include <string_view>

#include "hone/base/json.h"

/// JSON as written and read by Python's json module, which Optuna's tables store in text columns.
namespace hone {

/// Returns the text of json.dumps: ", " and ": " as separators, non-ASCII characters escaped, floats with a point or
/// an exponent, NaN and Infinity.
std::string to_python_json(const Json& value);

/// Parses such text. NaN and infinities are numbers. Throws `UserError` with `where` as a prefix.
Json parse_python_json(std::string_view text, std::string_view where);

}  // namespace hone
