#pragma once

#include <string>

#include "hone/tensor/safetensors.h"

/// The weights in a Hugging Face model folder.
namespace hone {

inline constexpr const char* kWeightsFile = "model.safetensors";
/// Of a model that only this program can build, see `save_model`.
inline constexpr const char* kOwnWeightsFile = "parameters.safetensors";

struct Checkpoint {
  TensorMap tensors;            ///< contiguous; read-only views of the files where possible
  std::string source;           ///< the file they came from, in the folder: "model.safetensors"
  std::size_t bytes_saved = 0;  ///< by bitmaps in the file (hone/tensor/bitmaps.h)
};

/// Reads the first of these that the folder has: model.safetensors, model.safetensors.index.json
/// (several files), pytorch_model.bin, pytorch_model.bin.index.json, parameters.safetensors. Throws `UserError` naming all
/// of them when there is none, and for anything wrong inside.
Checkpoint load_checkpoint(const fs::path& folder);

/// Writes `folder`/`file` the way Hugging Face reads it. The folder must exist.
void save_checkpoint(const fs::path& folder, const TensorMap& tensors,
                     const char* file = kWeightsFile);

}  // namespace hone
