#pragma once

#include <string>
#include <string_view>

#include "hone/models/model_source.h"

namespace hone {

/// Returns a warning if the model was trained on pairs of texts, or is a cross-encoder, but the texts are no `pairs`;
/// `option` is the setting for the second text. Otherwise empty.
std::string pair_warning(const TextModel& source, bool pairs, std::string_view option);

}  // namespace hone
