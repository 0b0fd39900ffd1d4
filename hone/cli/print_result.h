#pragma once

#include <string>
#include <string_view>

#include "hone/base/json.h"

/// The only function by which commands print JSON, so that their output follows the schema (`hone schema`).
namespace hone {

/// Prints the result of a command on one line (see `result_of`).
void print_result(std::string_view command, const Json& fields);

}  // namespace hone
