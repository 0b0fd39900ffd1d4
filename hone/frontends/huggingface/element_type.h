#pragma once

#include <string_view>

#include "hone/base/file.h"
#include "hone/base/json.h"

/// Keys that name the type that other programs load weights as. They round weights where the files hold another one.
namespace hone {

/// Names a type in a config.json, by default fp32, the type that hone writes.
void name_element_type(Json& config, std::string_view type = "float32");

/// Removes the type from what the files of sentence-transformers in a written folder pass on to transformers.
void remove_element_type(const fs::path& folder);

}  // namespace hone
