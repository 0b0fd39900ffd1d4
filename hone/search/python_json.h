#pragma once

#include <string>
#include <string_view>

#include "hone/base/json.h"

/// JSON as Python's module writes and reads it, which stands in the text columns of Optuna's tables.
namespace hone {

/// As json.dumps writes it: ", " and ": " between, all beyond ASCII escaped, floats with a point or an exponent, NaN and Infinity.
std::string to_python_json(const Json& value);

/// Reads that. NaN and infinities are numbers. Throws `UserError`, opening with `where`.
Json parse_python_json(std::string_view text, std::string_view where);

}  // namespace hone
