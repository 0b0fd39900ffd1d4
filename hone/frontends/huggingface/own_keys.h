#pragma once

#include <optional>
#include <string_view>

#include "hone/frontends/huggingface/model.h"

/// The keys that this program adds to the config.json of a saved model. Other programs ignore unknown keys.
namespace hone {

/// Reads `quantization_config`. Throws `UserError` if another program wrote it or it is invalid.
std::optional<Quantization> read_quantization(const Json& config, const FormatTable& formats,
                                              std::string_view where);

/// Reads `hone_history`. If it is missing, the history is complete unless `transformed`. Throws `UserError` if it is
/// invalid.
History read_history(const Json& config, bool transformed, std::string_view where);

/// Replaces these keys in a config. `notice` is a message for people who look for the weights; may be empty.
void write_own_keys(Json& config, const Model& model, const std::string& notice);

}  // namespace hone
