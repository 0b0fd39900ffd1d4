#pragma once

#include <string>

#include "hone/tensor/safetensors.h"

/// The weights in a Hugging Face model folder.
namespace hone {

inline constexpr const char* kWeightsFile = "model.safetensors";
/// For models that only this program can build, see `save_model`.
inline constexpr const char* kHoneWeightsFile = "parameters.safetensors";

struct Checkpoint {
  TensorMap tensors;            ///< contiguous; read-only views of the files where possible
  std::string source;           ///< file in the folder: "model.safetensors"
  std::size_t bytes_saved = 0;  ///< by bitmaps in the file (hone/tensor/bitmaps.h)
};

/// Reads the first of these files that exists: model.safetensors, model.safetensors.index.json (several files),
/// pytorch_model.bin, pytorch_model.bin.index.json, parameters.safetensors. Throws `UserError` with all these names if
/// there is none, and for invalid content.
Checkpoint load_checkpoint(const fs::path& folder);

/// Writes `folder`/`file` in the form that Hugging Face reads. The folder must exist.
void save_checkpoint(const fs::path& folder, const TensorMap& tensors,
                     const char* file = kWeightsFile);

}  // namespace hone
