#pragma once

#include <string_view>

#include "hone/base/json.h"

/// The only way by which commands print JSON: what they print follows the schema (`hone schema`).
namespace hone {

/// Prints the result of a command on one line (see `result_of`).
void print_result(std::string_view command, const Json& fields);

/// Prints one of many rows of a command, on a line of its own, with `schema_version` in front.
void print_row(const Json& fields);

}  // namespace hone
