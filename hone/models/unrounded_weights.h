#pragma once

#include "hone/base/file.h"
#include "hone/frontends/huggingface/model.h"

/// The weights of quantization-aware training before rounding, from which training resumes. The model's own file has
/// the rounded ones.
namespace hone {

inline constexpr const char* kUnroundedFile = "unrounded.safetensors";

/// Writes the weights of `unrounded` that differ from those in `rounded`, the same model after `round_weights`, into
/// the model's folder. Writes no file if there are none. Returns whether it wrote one.
bool write_unrounded(const Model& unrounded, const Model& rounded, const fs::path& folder);

/// Replaces the model's weights by the unrounded ones in its folder. Returns whether there are any. Throws `UserError`
/// for tensors that are not weights of this model, and for NaN or infinite values.
bool load_unrounded(Model& model, const fs::path& folder);

}  // namespace hone
