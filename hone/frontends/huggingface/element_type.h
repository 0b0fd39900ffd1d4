#pragma once

#include <string_view>

#include "hone/base/file.h"
#include "hone/base/json.h"

/// Config keys for the element type as which other programs load weights. They convert weights if the files contain
/// another type.
namespace hone {

/// Names a type in a config.json, by default fp32, which is what hone writes.
void name_element_type(Json& config, std::string_view type = "float32");

/// Removes the type from the sentence-transformers files of a written folder, which pass it to transformers.
void remove_element_type(const fs::path& folder);

}  // namespace hone
