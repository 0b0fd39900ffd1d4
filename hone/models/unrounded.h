#pragma once

#include "hone/base/file.h"
#include "hone/frontends/huggingface/model.h"

/// The weights of quantization-aware training before they are rounded: what training goes on from. Others load the rounded
/// ones beside them.
namespace hone {

inline constexpr const char* kUnroundedFile = "unrounded.safetensors";

/// Writes those weights of `unrounded` that are others in `rounded`, the same model after `round_weights`, into the model's
/// folder. No file where there are none. Returns whether there is one.
bool write_unrounded(const Model& unrounded, const Model& rounded, const fs::path& folder);

/// Puts the unrounded weights of the model's folder in the place of its own. Returns whether there are any. Throws `UserError`
/// for tensors that are not weights of this model.
bool take_unrounded(Model& model, const fs::path& folder);

}  // namespace hone
