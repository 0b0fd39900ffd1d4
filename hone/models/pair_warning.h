#pragma once

#include <string>
#include <string_view>

#include "hone/models/model_source.h"

namespace hone {

/// The warning that the model was trained on pairs of texts, or is a cross-encoder, and these have no second ones; `option` is the setting that
/// gives them. Empty where the texts are `pairs`, and where nothing is known of the model.
std::string pair_warning(const TextModel& source, bool pairs, std::string_view option);

}  // namespace hone
