#pragma once

#include <optional>
#include <string_view>

#include "hone/frontends/huggingface/model.h"

/// What this program adds to the config.json of a model that it saves; other programs leave unknown keys alone.
namespace hone {

/// The `quantization_config`. Throws `UserError` for one that another program wrote, and for what is none.
std::optional<Quantization> read_quantization(const Json& config, const FormatTable& formats,
                                              std::string_view where);

/// The `hone_history`. Where there is none, `transformed` says whether there should be one. Throws `UserError` for what is
/// none.
History read_history(const Json& config, bool transformed, std::string_view where);

/// Puts into a config what those two read, and takes out what was there. `notice`: what people who look for the weights
/// should know; may be empty.
void write_own_keys(Json& config, const Model& model, const std::string& notice);

}  // namespace hone
